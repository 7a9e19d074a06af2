/** The wire format of commands and responses (TPM 2.0 Part 1 §18, Part 3 §5). */
import { type BufferReader, bufferReader, sized, u8, u16, u32 } from "@signet/protocol/tpm/buffer-reader";

/** TPM_CC (TPM 2.0 Part 2 §6.5.2). */
export const commandCodes = {
  CreatePrimary: 0x0131,
  ActivateCredential: 0x0147,
  Certify: 0x0148,
  NV_Read: 0x014e,
  PolicySecret: 0x0151,
  Create: 0x0153,
  Load: 0x0157,
  Sign: 0x015d,
  FlushContext: 0x0165,
  NV_ReadPublic: 0x0169,
  ReadPublic: 0x0173,
  StartAuthSession: 0x0176,
  GetCapability: 0x017a,
} as const;

export type CommandName = keyof typeof commandCodes;

/** TPM_RH (TPM 2.0 Part 2 §7.4). */
export const permanentHandles = {
  owner: 0x4000_0001,
  none: 0x4000_0007,
  password: 0x4000_0009,
  endorsement: 0x4000_000b,
} as const;

/** Authorises the use of one handle; every password used here is empty. */
export type Authorisation = { readonly session: number };

export const byPassword: Authorisation = { session: permanentHandles.password };

export interface Command {
  readonly name: CommandName;
  readonly handles?: readonly number[];
  /** For the first handles, in order. */
  readonly authorisations?: readonly Authorisation[];
  readonly parameters?: Buffer;
  /** The response starts with a handle. */
  readonly returnsHandle?: boolean;
}

const NO_SESSIONS = 0x8001;
const SESSIONS = 0x8002;
const HEADER_BYTES = 10;
/** The session stays open until it is flushed. */
const CONTINUE_SESSION = 0x01;

export function writeCommand({ name, handles = [], authorisations = [], parameters }: Command): Buffer {
  const sessions = Buffer.concat(authorisations.map(writeAuthorisation));
  const body = Buffer.concat([
    ...handles.map(u32),
    ...(sessions.length === 0 ? [] : [u32(sessions.length), sessions]),
    parameters ?? Buffer.alloc(0),
  ]);
  const tag = sessions.length === 0 ? NO_SESSIONS : SESSIONS;
  return Buffer.concat([u16(tag), u32(HEADER_BYTES + body.length), u32(commandCodes[name]), body]);
}

const writeAuthorisation = ({ session }: Authorisation): Buffer =>
  Buffer.concat([
    u32(session),
    sized(Buffer.alloc(0)),
    u8(session === permanentHandles.password ? 0 : CONTINUE_SESSION),
    sized(Buffer.alloc(0)),
  ]);

export interface Response {
  /** TPM_RC: 0 is success. */
  readonly code: number;
  readonly handle: number | undefined;
  readonly parameters: BufferReader;
}

/** @throws TpmError for an invalid response */
export function readResponse(
  bytes: Buffer,
  { returnsHandle = false }: Pick<Command, "returnsHandle">,
): Response {
  const reader = bufferReader(bytes);
  const tag = reader.u16();
  reader.u32();
  const code = reader.u32();
  if (code !== 0) return { code, handle: undefined, parameters: bufferReader(Buffer.alloc(0)) };
  const handle = returnsHandle ? reader.u32() : undefined;
  const parameters = tag === SESSIONS ? reader.bytes(reader.u32()) : reader.rest();
  return { code, handle, parameters: bufferReader(parameters) };
}

/** The length that a response states; undefined until enough of it has arrived. */
export const responseLength = (bytes: Buffer): number | undefined =>
  bytes.length < 6 ? undefined : bytes.readUInt32BE(2);
