/** The rest of a first load. */
export const loadTexts = {
  received: ({ received, all, list }: { received: number; all: number; list: string }): string =>
    `${received} of ${all} ${list}s read`,
};
