export * from '../command.ts';
