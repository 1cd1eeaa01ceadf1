import { catalogue } from '../catalogue.ts';

/** The screen Clinics. */
export const clinicsTexts = catalogue('console/clinics.clinicsTexts', {
  title: 'Clinics',
  clinic: 'Clinic',
  health: 'State',
  lastWindow: 'Last window',
  never: 'never',
  held: 'Held',
  late: 'Late',
  refused: 'Refused by the ERP',
  toSend: 'To deliver',
  closed: 'Closed through',
  notClosed: 'no day',
  verdict: 'Reconciled',
  notChecked: 'not yet',
  agrees: ({ at }: { at: string }) => `yes, ${at}`,
  differs: ({ equations, at }: { equations: string; at: string }) => `no: ${equations}, ${at}`,
  cause: 'Cause and next step',
  summary: ({ clinics, problems }: { clinics: number; problems: number }) =>
    `${clinics === 1 ? '1 clinic' : `${clinics} clinics`}, ${problems === 1 ? '1 problem' : `${problems} problems`}`,
});

/** The state of a clinic's synchronisation. */
export const healthNames = catalogue('console/clinics.healthNames', {
  failed: 'failed',
  late: 'late',
  waiting: 'waiting',
  paused: 'paused',
  new: 'new',
  held: 'needs a look',
  ok: 'ok',
});
