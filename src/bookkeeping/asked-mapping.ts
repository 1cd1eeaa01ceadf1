import { z } from 'zod';
import { actionState } from '../actions/asking.ts';
import { hashOf } from '../actions/record.ts';
import type { InstallationConfig } from '../config/load-config.ts';
import { chartOfErp, mappingOf } from '../config/mapping-files.ts';
import type { Connection } from '../db/rows.ts';
import type { Mapping } from '../mapping/schema.ts';
import type { InstallationId } from '../terms.ts';
import { type MappingPreview, mappingPreview, shownPreview } from './mapping-preview.ts';

/** The largest text of a proposed mapping. */
export const mappingTextAtMost = 60_000;

/** The request to preview a mapping, as an asked action stores it. `content` is canonical JSON, as in a version. */
export const proposalRequest = z.object({ mapping_hash: z.string(), content: z.string() });

/** The request to preview the corrections of the mapping in force. */
export const previewRequest = z.object({ mapping_hash: z.string() });

/** The request of an action about a preview: the number of the action that made it. */
export const previewedRequest = z.object({ preview: z.int().positive() });

/** The result of a preview. `base` is the hash of the mapping in force at that time. */
export const previewResult = z.object({ base: z.string(), mapping_hash: z.string(), preview: mappingPreview });

/** A preview that an action has made. */
export interface Previewed {
  id: number;
  /** The name of the person who asked for it. */
  by: string;
  base: string;
  mappingHash: string;
  preview: MappingPreview;
  /** The content of a proposed mapping. Null for a preview of the mapping in force. */
  content: string | null;
}

/** The hash of a preview that a person sees. */
export function hashOfPreview({ mappingHash, preview }: Pick<Previewed, 'mappingHash' | 'preview'>): string {
  return hashOf(JSON.stringify([mappingHash, shownPreview(preview)]));
}

/** A preview of an installation. Null if the action is no preview, or has no result. */
export async function previewedBy(
  db: Connection,
  installation: InstallationId,
  { id, kind }: { id: number; kind: 'propose_mapping' | 'preview_repost' },
): Promise<Previewed | null> {
  const found = await actionState(db, installation, id);
  if (found === null || found.action.kind !== kind || found.result === null) return null;
  const result = previewResult.safeParse(found.result);
  if (!result.success) return null;
  const request = proposalRequest.safeParse(found.action.input);
  const { base, mapping_hash: mappingHash, preview } = result.data;
  return { id, by: found.action.subject, base, mappingHash, preview, content: request.data?.content ?? null };
}

/**
 * Whether a proposal names the chart of the mapping in force, or that of the ERP. Another name would be a file on the server, which an
 * operator chooses.
 */
export function namesKnownChart({ chart }: Mapping, { mapping }: Pick<InstallationConfig, 'mapping'>): boolean {
  return chart === null || chart === chartOfErp || chart === mapping.chart;
}

/** A setting that differs between two mappings, such as `roles.receivable`. Null where a mapping lacks it. */
export interface ChangedSetting {
  setting: string;
  old: string | null;
  now: string | null;
}

/** The settings that differ between two stored mappings, in their order. */
export function changedSettings(older: string, newer: string): ChangedSetting[] {
  const [was, is] = [settingsOf(older), settingsOf(newer)];
  const names = [...new Set([...was.keys(), ...is.keys()])].sort();
  return names.flatMap((setting) => {
    const [old, now] = [was.get(setting) ?? null, is.get(setting) ?? null];
    return old === now ? [] : [{ setting, old, now }];
  });
}

function settingsOf(content: string): Map<string, string> {
  const found = new Map<string, string>();
  const read = (value: unknown, path: readonly string[]) => {
    if (typeof value === 'object' && value !== null && Object.keys(value).length > 0)
      for (const [key, each] of Object.entries(value)) read(each, [...path, key]);
    else found.set(path.join('.'), typeof value === 'string' ? value : JSON.stringify(value));
  };
  read(JSON.parse(content), []);
  return found;
}

/** The installation with a proposed mapping. */
export function withProposal(installation: InstallationConfig, content: string): InstallationConfig {
  return { ...installation, ...mappingOf(content) };
}
