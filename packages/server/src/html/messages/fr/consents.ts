import { formatDay } from "../format.ts";

const LOCALE = "fr";

export const scopes = {
  openid: "Vous reconnaître quand vous revenez",
  profile: "Voir votre nom et votre nom d’utilisateur",
  email: "Voir votre adresse e‑mail et savoir si elle est confirmée",
  phone: "Voir votre numéro de téléphone",
  offline_access: "Garder son accès quand vous ne l’utilisez pas",
};

export const consent = {
  heading: (application: string) => `Autoriser ${application} à utiliser votre compte ?`,
  signedInAs: "Session ouverte avec",
  switchAccount: "Pas vous ? Changer de compte",
  listTitle: "Cette application pourra :",
  sensitive: "Sensible",
  customScope: (name: string) => `Utiliser « ${name} » en votre nom`,
  goesTo: "Vous reviendrez ensuite sur",
  allow: "Autoriser",
  deny: "Refuser",
  remembered: "Si vous autorisez cet accès, on ne vous le demandera plus.",
};

export const consents = {
  title: "Applications ayant accès",
  heading: "Ce que les applications peuvent utiliser",
  signedInAs: "Session ouverte avec",
  summary: (organisation: string) =>
    `Vous avez autorisé ces applications à utiliser votre compte ${organisation}. Retirez les accès dont vous ne voulez plus.`,
  listHeading: "Applications",
  none: "Vous n’avez encore rien autorisé. Les accès que vous accorderez aux applications apparaîtront ici.",
  since: (milliseconds: number) => `Accès accordé le ${formatDay(LOCALE, milliseconds)}`,
  revoke: "Retirer",
  revokeOf: (application: string) => `Retirer l’accès de l’application ${application}`,
  revokeHeading: (application: string) => `Retirer l’accès de l’application ${application} ?`,
  revokeText:
    "Elle perd aussitôt l’accès à votre compte. Si vous l’utilisez de nouveau, elle vous le redemandera.",
  revoked: "L’accès est retiré.",
};

export const administratorConsent = {
  heading: (application: string) => `L’application ${application} n’est pas encore autorisée ici`,
  explanation: (organisation: string, application: string) =>
    `Chez ${organisation}, c’est un administrateur qui décide de ce que les applications peuvent utiliser. Demandez-lui d’accorder ces autorisations à l’application ${application} :`,
  back: (application: string) => `Revenir vers ${application}`,
};
