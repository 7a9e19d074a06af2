/** Something is wrong with a ceremony: it is aborted, or must not go on. */
export class CeremonyFault extends Error {
  override name = "CeremonyFault";
  readonly code:
    | "swapped_message"
    | "invalid_share"
    | "invalid_proof"
    | "aborted"
    | "wrong_transcript"
    | "wrong_roster"
    | "wrong_key"
    | "not_joined";
  /** The kid of the member at fault. */
  readonly about: string | undefined;
  constructor(code: CeremonyFault["code"], message: string, about?: string) {
    super(message);
    this.code = code;
    this.about = about;
  }
}
