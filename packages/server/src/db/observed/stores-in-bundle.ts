/**
 * The stores' functions by name, each with its store's: in a bundle (scripts/bundle.ts), which has no files that could be told
 * apart. Undefined in the sources, and in packages.
 */
export const storesInBundle: Readonly<Record<string, string>> | undefined = undefined;
