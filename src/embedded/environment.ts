/** Environment variables that every started program gets. None of them can contain a secret. */
const common = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR'];

/** Environment variables that describe network access, for programs that download. */
const network = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS'];

/**
 * The environment of a server. It is a list of allowed names, because a list of forbidden names could never be
 * complete.
 */
export function serverEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return pick(env, (name) => common.includes(name));
}

/**
 * The environment of a program that downloads or builds another one. It adds proxies, certificates and Go's settings.
 */
export function installerEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return pick(
    env,
    (name) =>
      common.includes(name) ||
      network.includes(name.toUpperCase()) ||
      name === 'XDG_CACHE_HOME' ||
      name === 'CC' ||
      /^(GO|CGO_)[A-Z0-9_]*$/.test(name),
  );
}

function pick(env: NodeJS.ProcessEnv, isAllowed: (name: string) => boolean): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => isAllowed(name)));
}
