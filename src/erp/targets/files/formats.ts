import type { FileTargetConfig } from '../../../config/erp.ts';
import type { InstallationConfig } from '../../../config/load-config.ts';
import { csvFormat } from './csv.ts';
import { datevFormat } from './datev.ts';
import type { FileFormat } from './format.ts';
import { sie4Format } from './sie4.ts';

/** The file format that an installation's configuration names. */
export function fileFormat(
  erp: FileTargetConfig,
  { currency, decimals, mapping }: Pick<InstallationConfig, 'currency' | 'decimals' | 'mapping'>,
): FileFormat {
  switch (erp.kind) {
    case 'csv': {
      const dimensions = [...new Set(Object.values(mapping.erp.dimensions).map(({ name }) => name))];
      return csvFormat({ dialect: erp.options.dialect, currency, decimals, dimensions });
    }
    case 'sie4':
      return sie4Format(erp.options);
    case 'datev':
      return datevFormat(erp.options, currency);
  }
}
