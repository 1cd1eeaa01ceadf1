import { existsSync } from 'node:fs';

/** The path of Chromium. Undefined without it. */
export const chromiumPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
);
