-- What a window was to read of each stream, and what it has read; null for windows of earlier versions.
alter table sync_window add column streams json;
create index sync_window_failed on sync_window (installation, id) where outcome = 'failed';
