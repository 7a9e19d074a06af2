/** Published in the ServiceProviderConfig, and kept. */
export const MAX_BULK_OPERATIONS = 1_000;
export const MAX_BULK_BYTES = 4 * 1024 * 1024;
