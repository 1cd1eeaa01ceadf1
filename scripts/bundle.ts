// Builds the workflows' bundle ahead of the first start (`npm ci` runs it).
import { workflowBundle } from '../src/bundle.ts';

await workflowBundle();
