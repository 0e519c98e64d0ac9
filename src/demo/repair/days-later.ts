/**
 * Loaded before a server of the example (`node --import`): its clock is some days ahead. Nobody waits for days to show what
 * they change; the leases, the log and the model of that server see them as passed.
 */

const DAYS = 5;

const now = Date.now.bind(Date);
Date.now = () => now() + DAYS * 24 * 3_600_000;
