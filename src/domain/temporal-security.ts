/** How connections to a Temporal server are protected; named as the Temporal SDK names it. */
export interface TemporalSecurity {
  tls: boolean | TemporalTls;
  apiKey?: string;
}

export interface TemporalTls {
  /** The host name in the server's certificate, if it is not the host of the address. */
  serverNameOverride?: string;
  /** The CA certificates for the server. If absent, those of the system are used. */
  serverRootCACertificate?: Buffer;
  clientCertPair?: { crt: Buffer; key: Buffer };
}
