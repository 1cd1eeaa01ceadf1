import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { folderOf } from '../cli/support.ts';
import { textOf } from './schemas.ts';

const units = ['vetledger.service', 'vetledger-console.service', 'vetledger-backup.service', 'vetledger-backup.timer'];
const unitOf = (name: string) => textOf(`deploy/systemd/${name}`);
const root = fileURLToPath(new URL('../../', import.meta.url));

/** The settings of a unit by section and name, each with all its values. */
function settingsOf(text: string): Map<string, string[]> {
  const settings = new Map<string, string[]>();
  let section = '';
  for (const line of text.split('\n').filter((each) => each !== '' && !each.startsWith('#'))) {
    const header = /^\[(\w+)\]$/.exec(line);
    const setting = /^(\w+)=(.*)$/.exec(line);
    if (header) section = header[1] ?? '';
    else if (setting)
      settings.set(`${section}.${setting[1]}`, [...(settings.get(`${section}.${setting[1]}`) ?? []), setting[2] ?? '']);
    else throw new Error(`neither a section nor a setting: ${line}`);
  }
  return settings;
}

describe('systemd', () => {
  const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;
  test.runIf(hasSystemd).each(units)('%s is taken by `systemd-analyze verify`', (name) => {
    // The programs must exist at the paths in the unit, so paths of this checkout replace them.
    const here = (text: string) =>
      text
        .replaceAll('/opt/vetledger/node_modules/.bin/vetledger', join(root, 'bin/vetledger.js'))
        .replaceAll('/opt/vetledger/node_modules/vetledger/', root);
    const folder = folderOf(Object.fromEntries(units.map((each) => [each, here(unitOf(each))])));
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', join(folder, name)], {
      encoding: 'utf8',
    });
    // The output also contains messages about units of this machine.
    const told = stderr.split('\n').filter((line) => line.includes('vetledger'));
    expect({ status, told }).toEqual({ status: 0, told: [] });
  });

  test('a stop gives the daemon its 30 s, a wrong configuration is not tried again, everything else is', () => {
    const daemon = settingsOf(unitOf('vetledger.service'));
    expect(Number(daemon.get('Service.TimeoutStopSec')?.[0])).toBeGreaterThan(30);
    expect(daemon.get('Service.Restart')).toEqual(['always']);
    expect(daemon.get('Service.RestartPreventExitStatus')).toEqual(['2']);
    expect(daemon.get('Unit.StartLimitIntervalSec')).toEqual(['0']);
    expect(daemon.get('Service.ExecReload')).toEqual(['/bin/kill -HUP $MAINPID']);
  });

  test('the console runs as another user than the daemon, with the same restrictions', () => {
    const [daemon, site] = ['vetledger.service', 'vetledger-console.service'].map((name) => settingsOf(unitOf(name)));
    expect(site?.get('Service.User')).not.toEqual(daemon?.get('Service.User'));
    const restrictions = [...(daemon ?? [])].filter(([name]) =>
      /Protect|Private|Restrict(?!P)|NoNew|SystemCall|Capab|Lock/.test(name),
    );
    expect(restrictions.length).toBeGreaterThan(15);
    for (const [name, values] of restrictions) expect([name, site?.get(name)]).toEqual([name, values]);
  });

  test('no secret is in its environment, and the daemon can write its own folder alone', () => {
    const daemon = settingsOf(unitOf('vetledger.service'));
    expect(daemon.get('Service.Environment')).toEqual(['NODE_ENV=production VETLEDGER_DATA_DIR=/var/lib/vetledger']);
    const locked = {
      User: 'vetledger',
      ProtectSystem: 'strict',
      ProtectHome: 'yes',
      NoNewPrivileges: 'yes',
      StateDirectory: 'vetledger',
    };
    for (const [name, value] of Object.entries(locked))
      expect([name, daemon.get(`Service.${name}`)]).toEqual([name, [value]]);
    expect(daemon.has('Service.ReadWritePaths')).toBe(false);
  });
});
