import { formatDuration } from "../format.ts";

const LOCALE = "fr";

export const device = {
  heading: "Connecter un appareil",
  signedInAs: "Session ouverte avec",
  otherAccount: "Pas vous ? Changer de compte",
  explanation: "Saisissez le code affiché sur votre appareil.",
  compare: "Comparez ce code avec celui de votre appareil. Ne continuez que s’ils sont identiques.",
  code: "Code",
  submit: "Continuer",
  failed: "L’appareil n’est pas encore connecté",
  wrongCode: "Ce code est erroné ou trop ancien. Vérifiez-le, ou affichez-en un nouveau sur votre appareil.",
  usedCode: "Ce code a déjà servi. Si votre appareil attend encore, affichez-y un nouveau code.",
  rateLimited: (seconds: number) =>
    `Il y a eu trop de codes erronés. Attendez ${formatDuration(LOCALE, seconds)}, puis réessayez.`,
  expired: "Cette page a expiré",
  expiredText: "Rien n’a été autorisé. Continuez pour réessayer.",
  question: (application: string) => `Autoriser ${application} à utiliser votre compte sur un appareil ?`,
  codeOnDevice: "Code sur l’appareil",
  device: "Se présente comme",
  unknownDevice: "Non précisé",
  address: "Adresse réseau",
  asked: "Demande reçue",
  ago: (seconds: number) =>
    seconds < 60 ? "à l’instant" : `il y a ${formatDuration(LOCALE, Math.floor(seconds / 60) * 60)}`,
  warning: "Avez-vous cet appareil sous les yeux ?",
  warningText:
    "N’autorisez que ce que vous avez lancé vous-même. Si quelqu’un vous a envoyé le code ou le lien, refusez : cette personne accéderait à votre compte.",
  allow: "Autoriser",
  deny: "Refuser",
  allowedHeading: "Votre appareil est connecté",
  allowed: (application: string) =>
    `${application} y prend le relais dans un instant. Vous pouvez fermer cette page.`,
  deniedHeading: "L’appareil n’a pas été autorisé",
  denied: "Il n’a aucun accès à votre compte. Vous pouvez fermer cette page.",
};
