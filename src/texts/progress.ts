import { catalogue } from './catalogue.ts';

/** Lines that report the progress of starting an embedded server. */
export const serverProgress = catalogue('progress.serverProgress', {
  portTaken: ({ server, port }: { server: string; port: number }): string =>
    `${server}: another process has taken its port ${port}; choosing another one`,
  copyingPrograms: ({ folder }: { folder: string }): string =>
    `PostgreSQL: copying its programs to ${folder}, where they can be run`,
  dataElsewhere: ({ folder, user, dataDir }: { folder: string; user: number; dataDir: string }): string =>
    `PostgreSQL: user ${user}, who runs it, cannot enter ${dataDir}. Its data is stored in ${folder}; ${dataDir}/postgres.location contains this path`,
  creatingDatabase: ({ folder }: { folder: string }): string => `PostgreSQL: creating its database in ${folder}`,
  ready: ({ server, port }: { server: string; port: number }): string => `${server}: ready on 127.0.0.1:${port}`,
  waitingForHolder: ({ server, holder }: { server: string; holder: string }): string =>
    `${server}: waiting for process ${holder}, which starts or stops it`,
  joining: ({ server, pid }: { server: string; pid: number }): string =>
    `${server}: using process ${pid}, which was left running earlier`,
  notAnswering: ({ server, pid }: { server: string; pid: number }): string =>
    `${server}: process ${pid} does not answer; starting a new one`,
  waitingForInstallation: ({ holder }: { holder: string }): string =>
    `Temporal: waiting for process ${holder}, which is installing it`,
  installed: ({ path }: { path: string }): string => `Temporal: installed as ${path}`,
  wayFailed: ({ way }: { way: string }): string => `Temporal: ${way} did not work`,
  downloading: 'Temporal: downloading its development server',
  building: 'Temporal: building its development server with Go; this takes about three to five minutes, once',
  stillBuilding: ({ seconds }: { seconds: number }): string => `Temporal: building with Go for ${seconds} s`,
});
