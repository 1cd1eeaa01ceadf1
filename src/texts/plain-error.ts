/** An error as data: as a window's row, a history and `--json` hold one. Neither text holds a secret. */
export interface PlainError {
  code: string;
  message: string;
  todo: string;
}
