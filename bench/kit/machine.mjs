// Owns: what a result says about the machine it was taken on. Never its name, and no path.

import { cpus } from 'node:os';
import { openDatabase } from '../../dist/store/sqlite/driver.js';

const db = await openDatabase(':memory:');
const { driver } = db;
const version = db.prepare('SELECT CAST(sqlite_version() AS BLOB) AS version').get().version;
db.close();

export function machine() {
  return {
    date: new Date().toISOString().slice(0, 10),
    cores: cpus().length,
    platform: `${process.platform} ${process.arch}`,
    node: process.versions.node,
    driver: `${driver} (SQLite ${Buffer.from(version).toString()})`,
  };
}
