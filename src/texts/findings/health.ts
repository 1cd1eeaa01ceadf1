/** Texts about the health of the daemon and of installations: `/ready`, `vetledger status`. */
export const healthTexts = {
  workersIdle: ({ queues }: { queues: string }) => `these workers take no work: ${queues}`,
};
