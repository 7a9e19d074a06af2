/** What an application gives to a filter and may fail: memories that its instances share, look-ups of keys. */
import { SignetError } from "./errors.ts";

/** @throws SignetError `provider_unreachable`, 503, when it fails: who cannot be checked is not let in, and may try again */
export async function fromOutside<T>(what: string, ask: () => T | Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    if (cause instanceof SignetError) throw cause;
    throw new SignetError("provider_unreachable", `${what} cannot be asked.`, { cause });
  }
}
