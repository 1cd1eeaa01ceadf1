import { randomUUID } from 'node:crypto';
import { mappingTextAtMost, namesKnownChart, proposalRequest } from '../../../bookkeeping/asked-mapping.ts';
import { contentOf } from '../../../bookkeeping/mapping-versions.ts';
import { mappingOfText, readMappingText, yamlOf } from '../../../config/mapping-files.ts';
import { visible } from '../../../domain/text.ts';
import type { InstallationId } from '../../../terms.ts';
import { actionTexts } from '../../../texts/console/actions.ts';
import { mappingFormTexts as texts } from '../../../texts/console/mapping.ts';
import { html, local } from '../../html.ts';
import { form } from '../../layout.ts';
import { field, problem } from '../../parts/fields.ts';
import type { Answer, InstallationRequest, Route } from '../../route.ts';
import { permittedActions } from '../../users/permitted-actions.ts';
import { askByForm } from './ask.ts';
import type { ShownRequest } from './shown-request.ts';

const access = { who: permittedActions.propose_mapping, in: 'installation' } as const;

/** The form for a proposal: the mapping in force as text, which the person changes. */
export const proposalRoutes: readonly Route[] = [
  {
    ...{ method: 'GET', path: '/:installation/actions/proposal', access, audit: 'nothing' },
    answer: async (request: InstallationRequest) => showProposal(request, await textInForce(request), null),
  },
  { method: 'POST', path: '/:installation/actions/proposal', access, audit: 'action', answer: propose },
];

export function proposalPath(installation: InstallationId): string {
  return local(`/${installation}/actions/proposal`);
}

/** The text of the mapping in force: that of its file with comments, or the stored content. */
async function textInForce({ db, installation }: InstallationRequest): Promise<string> {
  const { id, mappingFile, mappingHash, mappingPath } = installation;
  const ofFile = mappingFile.hash === mappingHash ? await readMappingText(mappingPath) : null;
  if (ofFile !== null) return ofFile;
  const content = await contentOf(db, id, mappingHash);
  return content === null ? '' : yamlOf(content);
}

function showProposal(
  { installation, session }: InstallationRequest,
  text: string,
  fault: (() => string) | null,
): Answer {
  return {
    status: fault === null ? 200 : 400,
    page: {
      title: () => texts.titles.propose_mapping,
      body: () => html`${problem(fault === null ? null : visible(fault()))}
        <p>${texts.effects.propose_mapping}</p>
        ${form(
          session,
          proposalPath(installation.id),
          html`<label class="field">
              <span>${texts.text}</span>
              <textarea name="mapping" rows="30" cols="100" maxlength=${mappingTextAtMost} spellcheck="false" required>${text}</textarea>
            </label>
            <input type="hidden" name="shown" value=${installation.mappingHash} />
            <input type="hidden" name="form" value=${randomUUID()} />
            ${field({ name: 'reason', label: actionTexts.reason, hint: actionTexts.reasonHint, isRequired: true })}
            <button>${texts.makePreview}</button>`,
        )}`,
    },
  };
}

async function propose(request: InstallationRequest): Promise<Answer> {
  const { form: fields, installation } = request;
  const { mapping: text = '' } = fields;
  const again = async (fault: () => string) => showProposal(request, text.slice(0, mappingTextAtMost), fault);
  // An empty text would be a mapping that holds every document.
  if (text.trim() === '') return again(() => actionTexts.formOld);
  if (text.length > mappingTextAtMost) return again(() => texts.tooLong({ most: mappingTextAtMost }));
  const read = mappingOfText(text);
  if ('errors' in read) return again(() => texts.faults({ faults: read.errors.slice(0, 20).join('; ') }));
  const { mapping, mappingFile } = read;
  if (!namesKnownChart(mapping, installation)) return again(() => texts.otherChart);
  if (mappingFile.hash === installation.mappingHash) return again(() => texts.unchanged);
  const input = { mapping_hash: mappingFile.hash, content: mappingFile.content };
  return askByForm(request, { kind: 'propose_mapping', input }, again);
}

/** The proposed mapping, by its hash. */
export function proposalAsked(installation: InstallationId, input: unknown): ShownRequest | null {
  const { success, data } = proposalRequest.safeParse(input);
  if (!success) return null;
  return {
    view: () => html`<dt>${texts.mapping}</dt><dd>${data.mapping_hash.slice(0, 12)}</dd>`,
    form: proposalPath(installation),
  };
}
