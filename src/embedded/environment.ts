/** What every program that we start may know of our environment: nothing that could be a secret. */
const common = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR'];

/** How a program reaches the network from here, for those that download. */
const network = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS'];

/** The environment of a server: a list of what it gets, because nobody can list what it must not get. */
export function serverEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return picked(env, (name) => common.includes(name));
}

/** The environment of a program that downloads or builds another one: proxies and certificates, and Go's own settings. */
export function installerEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return picked(
    env,
    (name) =>
      common.includes(name) ||
      network.includes(name.toUpperCase()) ||
      name === 'XDG_CACHE_HOME' ||
      name === 'CC' ||
      /^(GO|CGO_)[A-Z0-9_]*$/.test(name),
  );
}

function picked(env: NodeJS.ProcessEnv, isWanted: (name: string) => boolean): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => isWanted(name)));
}
