/** A sign-up as API v1 shows it. */
import Type from "typebox";
import { MAX_REASON } from "../../../core/sign-ups/decide-sign-up.ts";
import { type SignUp, signUpStates } from "../../../core/sign-ups/sign-ups.store.ts";
import { strictObject, timeOrNull } from "../../../http/api/schemas.ts";
import { wireTime, wireTimeOrNull } from "../../../http/api/times.ts";

const time = Type.String({ format: "date-time" });

export const signUpSchema = Type.Object(
  {
    id: Type.String({ format: "uuid" }),
    email: Type.String({ description: "Confirmed" }),
    firstname: Type.String(),
    surname: Type.String(),
    locale: Type.Union([Type.String(), Type.Null()]),
    state: Type.Enum([...signUpStates]),
    reason: Type.Union([Type.String(), Type.Null()], { description: "Of a rejection; nobody is mailed it" }),
    userId: Type.Union([Type.String({ format: "uuid" }), Type.Null()], {
      description: "The account that the approval has made",
    }),
    termsVersion: Type.Union([Type.String(), Type.Null()], { description: "Which terms were accepted" }),
    decidedAt: timeOrNull,
    expiresAt: Type.String({ format: "date-time", description: "Deleted then, waiting or decided" }),
    createdAt: time,
    updatedAt: time,
  },
  { title: "ApiWaitingSignUp" },
);

export const rejection = strictObject(
  { reason: Type.Optional(Type.String({ minLength: 1, maxLength: MAX_REASON })) },
  { title: "ApiSignUpRejection" },
);

export const signUpRecord = (signUp: SignUp) => {
  const { id, email, firstname, surname, locale, state, reason, userId, termsVersion } = signUp;
  return {
    ...{ id, email, firstname, surname, locale, state, reason, userId, termsVersion },
    decidedAt: wireTimeOrNull(signUp.decidedAt),
    expiresAt: wireTime(signUp.expiresAt),
    createdAt: wireTime(signUp.createdAt),
    updatedAt: wireTime(signUp.updatedAt),
  };
};
