import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { demoMapping } from '../support/demo-config.ts';
import { useDatabase } from '../support/database.ts';
import { MirroredClinic } from '../support/mirrored-clinic.ts';
import { query } from '../support/sql.ts';
