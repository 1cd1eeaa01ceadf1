// A program of its own, run by temporal-binary.ts: the SDK fetches the server's program into the folder given as its
// argument and proves that it starts. Its native part cannot be interrupted or silenced within a process; this one can.
import { TestWorkflowEnvironment } from '@temporalio/testing';

const downloadDir = process.argv[2]!;
const environment = await TestWorkflowEnvironment.createLocal({
  server: { executable: { type: 'cached-download', downloadDir } },
});
await environment.teardown();
