/** How connections to a Temporal server are protected; named as the Temporal SDK names it. */
export interface TemporalSecurity {
  tls: boolean | TemporalTls;
  apiKey?: string;
}

export interface TemporalTls {
  /** The name that the server's certificate is for, where it is not the host of the address. */
  serverNameOverride?: string;
  /** The certificates that sign the server's; absent: those of the system. */
  serverRootCACertificate?: Buffer;
  clientCertPair?: { crt: Buffer; key: Buffer };
}
