import { formatDuration, formatMinute } from "../format.ts";

const LOCALE = "fr";

const utc = (milliseconds: number) => `${formatMinute(LOCALE, milliseconds)} UTC`;

export const recovery = {
  forgot: "Mot de passe oublié ?",
  heading: "Mot de passe oublié ?",
  explanation: (organisation: string) =>
    `Saisissez l’adresse e‑mail de votre compte ${organisation}. Vous recevrez un e‑mail avec un lien pour définir un nouveau mot de passe.`,
  email: "Adresse e‑mail",
  send: "Envoyer l’e‑mail",
  back: "Retour à la connexion",
  notSent: "Aucun e‑mail n’a été envoyé",
  invalidEmail: "Ce n’est pas une adresse e‑mail. Vérifiez-la, puis réessayez.",
  rateLimited: (seconds: number) =>
    `Il y a eu beaucoup de demandes. Utilisez le dernier e‑mail reçu, ou attendez ${formatDuration(LOCALE, seconds)}, puis réessayez.`,
  expired: "Cette page a expiré",
  sendAgain: "Rien n’est perdu : envoyez encore une fois.",
  sentHeading: "Consultez votre messagerie",
  sent: (email: string, organisation: string) =>
    `S’il existe un compte ${organisation} pour ${email}, un e‑mail avec un lien est en route vers cette adresse. Le lien fonctionne une seule fois, pendant une heure.`,
  nothingArrived:
    "Rien après quelques minutes ? Regardez dans le courrier indésirable et vérifiez l’adresse.",
  tryAgain: "Essayer une autre adresse",
  notSetUpHeading: "L’envoi d’e‑mails n’est pas configuré ici",
  notSetUp: (organisation: string) =>
    `Aucun lien ne peut donc vous être envoyé. Demandez un nouveau mot de passe à un administrateur de l’organisation ${organisation}.`,
  newHeading: "Définissez un nouveau mot de passe",
  account: "Pour le compte",
  newPassword: "Nouveau mot de passe",
  hint: (least: number) =>
    `Au moins ${least} caractères. Quelques mots sans rapport entre eux sont faciles à retenir.`,
  signsOut:
    "Toutes les sessions ouvertes avec l’ancien mot de passe seront fermées, ici et partout ailleurs.",
  set: "Définir ce mot de passe",
  notChanged: "Le mot de passe n’a pas changé",
  refused: {
    "too-short": (least: number) => `Choisissez-en un plus long : au moins ${least} caractères.`,
    "too-long": (most: number) => `Choisissez-en un plus court : ${most} caractères au maximum.`,
    "repeats-pattern": "Il répète un même motif. Choisissez-en un plus difficile à deviner.",
    "is-sequence": "C’est une simple suite. Choisissez-en un plus difficile à deviner.",
    "is-common":
      "Il fait partie de ceux que l’on essaie en premier. Choisissez-en un plus difficile à deviner.",
    "is-about-user":
      "Il est formé de votre nom ou de votre adresse. Choisissez-en un plus difficile à deviner.",
  },
  busy: (seconds: number) =>
    `Beaucoup de personnes se connectent en ce moment. Attendez ${formatDuration(LOCALE, seconds)}, puis saisissez-le de nouveau ; il n’est pas en cause.`,
  typeAgain: "Rien n’est perdu : saisissez encore une fois le nouveau mot de passe.",
  doneHeading: "Votre mot de passe a été modifié",
  done: (organisation: string) =>
    `Toutes les sessions de votre compte ${organisation} sont fermées. Connectez-vous maintenant avec le nouveau mot de passe.`,
  doneElsewhere: "Vous pouvez fermer cette fenêtre et vous connecter là d’où vous veniez.",
  checkFactors:
    "Quelqu’un connaissait peut-être l’ancien mot de passe ? Vérifiez quels autres moyens permettent de se connecter.",
  goOn: (application: string) => `Continuer vers ${application}`,
};

export const brokenLink = {
  heading: "Ce lien ne fonctionne plus",
  explanation:
    "Il a déjà servi, il est trop ancien, ou un autre a été envoyé depuis. Celui qui fonctionne est dans le dernier e‑mail reçu.",
  another: "Demander un nouvel e‑mail",
};

export const verifyEmail = {
  heading: "Confirmez votre adresse e‑mail",
  explanation: (organisation: string) =>
    `Pour vous laisser continuer, l’organisation ${organisation} doit savoir que cette adresse est bien la vôtre. Vous recevrez un e‑mail avec un lien.`,
  signedInAs: "Session ouverte avec",
  switchAccount: "Pas vous ? Changer de compte",
  send: "Envoyer l’e‑mail",
  sentHeading: "Consultez votre messagerie",
  sent: (email: string) =>
    `Un e‑mail avec un lien est en route vers ${email}. Le lien fonctionne une seule fois, pendant un jour.`,
  nothingArrived: "Rien après quelques minutes ? Regardez dans le courrier indésirable.",
  notSetUp: (organisation: string) =>
    `Aucun lien ne peut donc vous être envoyé. Demandez à un administrateur de l’organisation ${organisation} de confirmer votre adresse.`,
  confirmHeading: "Est-ce votre adresse e‑mail ?",
  confirmText: (organisation: string) =>
    `Quelqu’un, sans doute vous, a un compte ${organisation} avec cette adresse. Si cela ne vous dit rien, fermez cette page : il ne se passera rien.`,
  account: "Pour le compte",
  confirm: "Oui, je confirme",
  notConfirmed: "L’adresse n’est pas encore confirmée",
  confirmAgain: "Rien n’est perdu : confirmez encore une fois.",
  doneHeading: "Votre adresse e‑mail est confirmée",
  done: (organisation: string) =>
    `L’organisation ${organisation} sait maintenant que cette adresse est la vôtre.`,
};

export const action = {
  account: "Pour le compte",
  newAddress: "Nouvelle adresse",
  expired: "Cette page a expiré",
  again: "Rien n’est perdu : réessayez.",
  notSet: "Le mot de passe n’est pas encore défini",
  busy: (seconds: number) =>
    `Beaucoup de personnes se connectent en ce moment. Attendez ${formatDuration(LOCALE, seconds)}, puis réessayez ; ce que vous avez saisi n’est pas en cause.`,
  VerifyEmail: {
    heading: "Est-ce votre adresse e‑mail ?",
    text: (organisation: string) =>
      `Quelqu’un, sans doute vous, a demandé un compte ${organisation} avec cette adresse. Si cela ne vous dit rien, fermez cette page : il ne se passera rien.`,
    confirm: "Oui, je confirme",
    doneHeading: "Votre adresse e‑mail est confirmée",
    done: (organisation: string) => `Vous pouvez maintenant vous connecter à votre compte ${organisation}.`,
  },
  AcceptInvitation: {
    heading: "Choisissez un mot de passe",
    text: (organisation: string) => `Il vous servira à vous connecter à votre compte ${organisation}.`,
    confirm: "Définir ce mot de passe",
    doneHeading: "Votre compte est prêt",
    done: (organisation: string) => `Vous pouvez maintenant vous connecter à votre compte ${organisation}.`,
  },
  AcceptRoaming: {
    heading: "Utiliser votre compte ici aussi ?",
    text: (organisation: string) =>
      `L’organisation ${organisation} verra votre nom, votre adresse e‑mail et votre numéro de téléphone, et pourra vous donner accès à ses applications. Elle ne pourra pas modifier votre mot de passe. Si vous ne le souhaitez pas, fermez cette page : il ne se passera rien.`,
    confirm: "Oui, l’utiliser ici",
    doneHeading: "Votre compte fonctionne ici aussi",
    done: (organisation: string) =>
      `Vous pouvez maintenant vous connecter chez ${organisation} avec votre compte.`,
  },
  ChangeEmail: {
    heading: "Est-ce votre nouvelle adresse e‑mail ?",
    text: (organisation: string) =>
      `Si vous confirmez, elle devient l’adresse de votre compte ${organisation} et les e‑mails y seront envoyés. Si cela ne vous dit rien, fermez cette page : il ne se passera rien.`,
    confirm: "Oui, changer d’adresse",
    doneHeading: "Votre adresse e‑mail a été modifiée",
    done: (organisation: string) => `Votre compte ${organisation} utilise désormais la nouvelle.`,
  },
};

/** All feminine, as the sentences around them are. */
const factors = {
  totp: "Une application d’authentification",
  passkey: "Une clé d’accès",
  "recovery-codes": "Une série de codes de récupération",
};

export const mails = {
  test: {
    subject: (title: string) => `Essai : ${title}`,
    text: "Ceci est un essai qu’un administrateur s’est envoyé à lui-même. Rien ne s’est passé, et le bouton ne mène à rien qui puisse être fait.",
  },
  footer: (organisation: string) =>
    `Envoyé par Signet pour ${organisation}. Les réponses à cette adresse ne sont pas lues.`,
  fact: (name: string, value: string) => `${name} : ${value}`,
  copyLink: "Si le bouton ne fonctionne pas, copiez cette adresse dans votre navigateur :",
  facts: { at: "Date", browser: "Navigateur", address: "Adresse réseau" },
  moment: utc,
  newPassword: "Définir un nouveau mot de passe",
  notYou:
    "Si ce n’était pas vous, définissez tout de suite un nouveau mot de passe. Toutes les sessions ouvertes seront alors fermées.",
  resetPassword: {
    subject: (organisation: string) => `Nouveau mot de passe pour votre compte ${organisation}`,
    text: (organisation: string) =>
      `Quelqu’un, sans doute vous, a demandé à définir un nouveau mot de passe pour votre compte ${organisation}.`,
    validity: (expiresAt: number) => `Le lien fonctionne une seule fois, jusqu’au ${utc(expiresAt)}.`,
    otherwise: "Si vous n’avez rien demandé, vous n’avez rien à faire : votre mot de passe reste le même.",
  },
  verifyEmail: {
    subject: (organisation: string) => `Confirmez l’adresse e‑mail de votre compte ${organisation}`,
    text: (organisation: string) =>
      `Confirmez que cette adresse est bien celle de votre compte ${organisation}.`,
    confirm: "Confirmer cette adresse",
    validity: (expiresAt: number) => `Le lien fonctionne une seule fois, jusqu’au ${utc(expiresAt)}.`,
    otherwise: "Si cela ne vous dit rien, vous n’avez rien à faire.",
  },
  acceptInvitation: {
    subject: (organisation: string) => `Un compte ${organisation} vous attend`,
    text: (organisation: string) =>
      `L’organisation ${organisation} vous a créé un compte. Choisissez un mot de passe, et il est à vous.`,
    confirm: "Choisir un mot de passe",
    validity: (expiresAt: number) => `Le lien fonctionne une seule fois, jusqu’au ${utc(expiresAt)}.`,
    otherwise:
      "Si cela ne vous dit rien, vous n’avez rien à faire : personne ne peut se connecter à ce compte.",
  },
  acceptRoaming: {
    subject: (organisation: string) => `Utiliser votre compte chez ${organisation} aussi ?`,
    text: (organisation: string) =>
      `Si vous le souhaitez, vous pouvez vous connecter chez ${organisation} avec le compte que vous avez déjà. Cette organisation verrait votre nom, votre adresse e‑mail et votre numéro de téléphone, mais ne pourrait pas modifier votre mot de passe.`,
    confirm: "Voir les détails",
    validity: (expiresAt: number) => `Le lien fonctionne une seule fois, jusqu’au ${utc(expiresAt)}.`,
    otherwise: "Si vous ne le souhaitez pas, vous n’avez rien à faire : rien ne change.",
  },
  changeEmail: {
    subject: (organisation: string) => `Confirmez la nouvelle adresse e‑mail de votre compte ${organisation}`,
    text: (organisation: string) =>
      `Confirmez que cette adresse est bien la nouvelle adresse de votre compte ${organisation}. D’ici là, l’ancienne reste valable.`,
    confirm: "Confirmer cette adresse",
    validity: (expiresAt: number) => `Le lien fonctionne une seule fois, jusqu’au ${utc(expiresAt)}.`,
    otherwise: "Si cela ne vous dit rien, vous n’avez rien à faire.",
  },
  accountExists: {
    subject: (organisation: string) => `Vous avez déjà un compte ${organisation}`,
    text: (organisation: string) =>
      `Quelqu’un, sans doute vous, a demandé un compte ${organisation} avec cette adresse. Il en existe déjà un, et rien n’a changé.`,
    advice:
      "Connectez-vous avec le mot de passe que vous avez. Si vous l’avez oublié, définissez-en un nouveau. Si ce n’était pas vous, vous n’avez rien à faire.",
  },
  emailChanged: {
    subject: (organisation: string) => `L’adresse e‑mail de votre compte ${organisation} a été modifiée`,
    text: (organisation: string) =>
      `Votre compte ${organisation} a désormais une autre adresse e‑mail. Celle-ci ne sert plus pour ce compte.`,
    advice: (organisation: string) =>
      `Si ce n’était pas vous, prévenez tout de suite un administrateur de l’organisation ${organisation} : les e‑mails contenant des liens sont maintenant envoyés à l’autre adresse.`,
  },
  accountDeleted: {
    subject: (organisation: string) => `Votre compte ${organisation} a été supprimé`,
    text: (organisation: string) =>
      `Votre compte ${organisation} n’existe plus, ni rien de ce qui y était conservé sur vous. Vous êtes déconnecté partout, et les applications en sont informées.`,
    advice: (organisation: string) =>
      `Si ce n’était pas vous, prévenez tout de suite un administrateur de l’organisation ${organisation}. Le compte ne peut pas être rétabli.`,
  },
  passwordChanged: {
    subject: (organisation: string) => `Le mot de passe de votre compte ${organisation} a été modifié`,
    text: (organisation: string) =>
      `Votre compte ${organisation} a un nouveau mot de passe. Les sessions ouvertes avec l’ancien sont fermées.`,
  },
  newSignIn: {
    subject: (organisation: string) => `Nouvelle connexion à votre compte ${organisation}`,
    text: (organisation: string) =>
      `Quelqu’un s’est connecté à votre compte ${organisation} avec un navigateur qui n’avait encore jamais servi pour ce compte. Si c’était vous, vous n’avez rien à faire.`,
  },
  factorAdded: {
    subject: (factor: keyof typeof factors, organisation: string) =>
      `${factors[factor]} a été ajoutée à votre compte ${organisation}`,
    text: (factor: keyof typeof factors, organisation: string) =>
      `${factors[factor]} a été ajoutée à votre compte ${organisation}. Elle permet désormais de se connecter.`,
  },
  factorRemoved: {
    subject: (factor: keyof typeof factors, organisation: string) =>
      `${factors[factor]} a été supprimée de votre compte ${organisation}`,
    text: (factor: keyof typeof factors, organisation: string) =>
      `${factors[factor]} a été supprimée de votre compte ${organisation}. Elle ne permet plus de se connecter.`,
  },
};
