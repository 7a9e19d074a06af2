/**
 * What an edit can be taken back to, kept by the browser alone: compressed, encrypted, for one session of one organisation,
 * and sent to the pages of its console, or of the account, only. The service keeps no copy of what a record was.
 */
import { deflateRawSync, inflateRawSync } from "node:zlib";
import type {} from "@fastify/cookie";
import type { FastifyReply, FastifyRequest } from "fastify";

/** A proxy reads an answer's headers into 4 KiB, as nginx does (proxy_buffer_size). */
const MAX_SEALED_LETTERS = 2_500;
/** Far above what fits, compressed, into a cookie. */
const MAX_TEXT_BYTES = 1_000_000;

/** As core/encryption has it. */
export interface UndoSeals {
  seal(plaintext: Uint8Array, row: string): string;
  /** @throws when it was sealed for another row */
  open(sealed: string, row: string): Buffer;
}

export interface UndoBinding {
  readonly orgId: string;
  readonly sessionId: string;
}

export interface UndoCookie {
  /** Undefined without one, and for another session's. */
  read(request: FastifyRequest, binding: UndoBinding): string | undefined;
  /** @returns false when the text is too large for a cookie: there is none then */
  write(exchange: Exchange, binding: UndoBinding, text: string, maxAgeSeconds: number): boolean;
  clear(exchange: Exchange, binding: Pick<UndoBinding, "orgId">): void;
}

type Exchange = { readonly request: FastifyRequest; readonly reply: FastifyReply };

export function undoCookie(baseUrl: string, seals: UndoSeals): UndoCookie {
  const secure = baseUrl.startsWith("https:");
  // Browsers take this prefix over https alone (RFC 6265bis §4.1.3.1); `__Host-` would have it sent everywhere.
  const nameOf = (orgId: string) => `${secure ? "__Secure-" : ""}signet-undo-${orgId}`;
  const attributesOf = ({ url }: FastifyRequest, orgId: string) => ({
    path: pathOf(url, orgId),
    ...({ httpOnly: true, sameSite: "lax", secure } as const),
  });
  const clear: UndoCookie["clear"] = ({ request, reply }, { orgId }) =>
    void reply.clearCookie(nameOf(orgId), attributesOf(request, orgId));
  return {
    read: (request, binding) => {
      const sealed = request.cookies[nameOf(binding.orgId)];
      if (sealed === undefined || sealed.length > MAX_SEALED_LETTERS) return undefined;
      try {
        const bytes = seals.open(sealed, sealContext(binding));
        return inflateRawSync(bytes, { maxOutputLength: MAX_TEXT_BYTES }).toString();
      } catch {
        return undefined;
      }
    },
    write: ({ request, reply }, binding, text, maxAgeSeconds) => {
      const { orgId } = binding;
      const sealed = seals.seal(deflateRawSync(text), sealContext(binding));
      const fits = sealed.length <= MAX_SEALED_LETTERS && Buffer.byteLength(text) <= MAX_TEXT_BYTES;
      if (fits)
        reply.setCookie(nameOf(orgId), sealed, { ...attributesOf(request, orgId), maxAge: maxAgeSeconds });
      else clear({ request, reply }, binding);
      return fits;
    },
    clear,
  };
}

/** Of the pages that the edited one belongs to: they share no beginning but `/oauth`. */
function pathOf(url: string, orgId: string): string {
  if (url.startsWith("/devices/")) return `/devices/manage/${orgId}`;
  return url.startsWith(`/oauth/${orgId}/`) ? `/oauth/${orgId}/account` : `/oauth/manage/${orgId}`;
}

const sealContext = ({ orgId, sessionId }: UndoBinding): string => `undo|${orgId}|${sessionId}`;
