// Before each test file: files that share a process share no spy, and no state of our modules, such as the secrets that `redact` knows.
import { vi } from 'vitest';

vi.restoreAllMocks();
vi.resetModules();
