/**
 * Images that were asked for lately: the same bytes for everyone, so that callers who don't read them hold no copies, and the
 * database is not asked for each visitor. A digest names one content for ever: nothing here becomes stale.
 */
import type { StoredImage } from "../../core/organisations/images.store.ts";

interface ImageKey {
  readonly orgId: string;
  readonly digest: string;
}

export interface ImageMemory {
  /** @returns undefined when there is none: that isn't remembered */
  find(key: ImageKey): Promise<StoredImage | undefined>;
}

/** @param maxBytes of all images together: the one that was longest not asked for goes */
export function imageMemory(
  maxBytes: number,
  load: (key: ImageKey) => Promise<StoredImage | undefined>,
): ImageMemory {
  const images = new Map<string, StoredImage>();
  const loading = new Map<string, Promise<StoredImage | undefined>>();
  let bytes = 0;

  const drop = (name: string) => {
    bytes -= images.get(name)?.bytes.length ?? 0;
    images.delete(name);
  };
  const keep = (name: string, image: StoredImage) => {
    drop(name);
    images.set(name, image);
    bytes += image.bytes.length;
    for (const oldest of images.keys()) {
      if (bytes <= maxBytes) return;
      drop(oldest);
    }
  };
  const loadOnce = (name: string, key: ImageKey) => {
    const loaded = load(key).finally(() => loading.delete(name));
    loading.set(name, loaded);
    return loaded;
  };

  return {
    find: async (key) => {
      const name = `${key.orgId}/${key.digest}`;
      const image = images.get(name) ?? (await (loading.get(name) ?? loadOnce(name, key)));
      if (image) keep(name, image);
      return image;
    },
  };
}
