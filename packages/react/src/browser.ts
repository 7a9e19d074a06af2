/** What of a browser the client uses, so that tests can stand in for it, and servers render without one. */

/** The used part of `Storage`. */
export interface TabStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

/** The used part of `BroadcastChannel`. */
export interface Channel {
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  postMessage(message: unknown): void;
  close(): void;
}

/** The used part of `window`. */
export interface BrowserWindow {
  readonly location: { readonly href: string; readonly origin: string; assign(url: string): void };
  readonly history: { replaceState(state: unknown, unused: string, url: string): void };
  readonly sessionStorage: TabStorage;
  readonly document: {
    readonly visibilityState: string;
    addEventListener(type: "visibilitychange", listener: () => void): void;
    removeEventListener(type: "visibilitychange", listener: () => void): void;
  };
  readonly navigator: {
    /** Missing in old browsers, and where the page is not secure. */
    readonly locks?: { request<T>(name: string, work: () => Promise<T>): Promise<T> };
  };
  readonly indexedDB: IndexedDb;
  readonly BroadcastChannel: new (name: string) => Channel;
}

interface DbRequest<T> {
  readonly result: T;
  readonly error: Error | null;
  onsuccess: (() => void) | null;
  onerror: (() => void) | null;
}

interface Database {
  createObjectStore(name: string): unknown;
  transaction(
    store: string,
    mode: "readonly" | "readwrite",
  ): {
    objectStore(name: string): {
      get(key: string): DbRequest<unknown>;
      put(value: unknown, key: string): DbRequest<unknown>;
      delete(key: string): DbRequest<unknown>;
    };
  };
  close(): void;
}

export interface IndexedDb {
  open(name: string, version: number): DbRequest<Database> & { onupgradeneeded: (() => void) | null };
}

/** Undefined where pages are rendered without a browser. */
export const currentBrowser = (): BrowserWindow | undefined =>
  (globalThis as unknown as { readonly window?: BrowserWindow }).window;

const STORE = "values";

/** A few values that all tabs of the origin share, keys of WebCrypto among them. */
export interface SharedStore {
  get<T>(key: string): Promise<T | undefined>;
  put(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<void>;
}

export function openStore(indexedDB: IndexedDb, name: string): SharedStore {
  let opened: Promise<Database> | undefined;
  const database = () => {
    opened ??= new Promise((resolve, reject) => {
      const request = indexedDB.open(name, 1);
      request.onupgradeneeded = () => request.result.createObjectStore(STORE);
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
    return opened;
  };
  type Store = ReturnType<ReturnType<Database["transaction"]>["objectStore"]>;
  const run = async (mode: "readonly" | "readwrite", act: (store: Store) => DbRequest<unknown>) => {
    const request = act((await database()).transaction(STORE, mode).objectStore(STORE));
    return new Promise<unknown>((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  };
  return {
    get: async <T>(key: string) => (await run("readonly", (store) => store.get(key))) as T | undefined,
    put: async (key, value) => void (await run("readwrite", (store) => store.put(value, key))),
    delete: async (key) => void (await run("readwrite", (store) => store.delete(key))),
  };
}
