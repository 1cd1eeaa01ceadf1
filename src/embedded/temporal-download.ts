// temporal-binary.ts runs this file as a separate process. The SDK downloads the Temporal CLI into the folder given as
// the argument, and starts it once. The SDK's native part cannot be interrupted or silenced from within its process,
// but a process can be killed.
import { TestWorkflowEnvironment } from '@temporalio/testing';

const downloadDir = process.argv[2];
if (downloadDir === undefined) throw new Error('name the folder to download into');
const environment = await TestWorkflowEnvironment.createLocal({
  server: { executable: { type: 'cached-download', downloadDir } },
});
await environment.teardown();
