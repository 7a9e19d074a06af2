/** The answer of whatever sends a mail to an address that may be nobody's: the same words for every address. */
import Type from "typebox";
import type { Answer } from "../../http/api/api-route.ts";

const schema = Type.Object({ Message: Type.String() });

export const mailAnswers = {
  202: { description: "Taken in; the same for every address", schema },
} as const;

export const accepted: Answer = {
  status: 202,
  body: { Message: "If the address can be used for this, a mail is on its way to it." },
};
