import type { overview as english } from "../../en/console/overview.ts";
import { formatDay, formatMinute } from "../../format.ts";

const LOCALE = "fr";

export const overview: typeof english = {
  summary: (organisation) => `Ce qui se passe chez ${organisation}, et ce qui demande votre attention.`,
  figures: {
    title: "En chiffres",
    users: "Utilisateurs",
    applications: "Applications",
    sessions: "Navigateurs connectés",
    devices: "Appareils",
    agents: "Agents en ligne",
    moreThan: (count) => `plus de ${new Intl.NumberFormat(LOCALE).format(count)}`,
    ofAgents: (count) => (count === 1 ? "sur 1 agent" : `sur ${count} agents`),
  },
  range: {
    label: "Période",
    "24h": "24 heures",
    "7d": "7 jours",
    "30d": "30 jours",
    "90d": "90 jours",
  },
  charts: {
    numbers: "Afficher les chiffres",
    time: "Heure (UTC)",
    signIns: "Connexions",
    succeeded: "Réussies",
    failed: "Échouées",
    tokens: "Jetons",
    issued: "Émis",
    refused: "Refusés",
    agents: "Agents de signature",
    agentsAtOnce: "Au plus à la fois",
    signed: "Signées",
    from: (milliseconds) => `Depuis le ${formatMinute(LOCALE, milliseconds)}, en UTC.`,
  },
  attention: {
    title: "À surveiller",
    none: "Rien ne demande votre attention pour le moment.",
    poolAway: (name) => `Aucun agent du pool ${name} n’est en ligne`,
    poolAwayText: "Ses applications n’obtiennent aucun jeton jusqu’au retour de l’un d’eux.",
    poolEmpty: (name) => `Le pool ${name} n’a pas encore d’agent`,
    poolEmptyText: "Il ne peut pas signer avant que vous n’en enregistriez un.",
    secretEnds: (application) => `Un secret de ${application} expire bientôt`,
    secretEnded: (application) => `Un secret de ${application} a expiré`,
    secretEndsText: (title, milliseconds) =>
      `« ${title} » est valable jusqu’au ${formatDay(LOCALE, milliseconds)}.`,
    secretEndedText: (title, milliseconds) =>
      `« ${title} » était valable jusqu’au ${formatDay(LOCALE, milliseconds)}.`,
    mailOff: "Aucun e‑mail ne peut être envoyé",
    mailOffText:
      "Les invitations et les liens de mot de passe ne peuvent pas être envoyés tant que l’exploitant n’a pas configuré de serveur de messagerie.",
    mailFailed: (count) =>
      count === 1 ? "Un e‑mail n’a pas pu être remis" : `${count} e‑mails n’ont pas pu être remis`,
    mailFailedText: "Ces deux derniers jours.",
    keyOld: (algorithm) => `La clé de signature pour ${algorithm} est ancienne`,
    keyOldText: (milliseconds) => `Elle a été créée le ${formatDay(LOCALE, milliseconds)}. Renouvelez-la.`,
    caEnds: "Le certificat de l’autorité des appareils expire bientôt",
    caEndsText: (milliseconds) =>
      `Il est valable jusqu’au ${formatDay(LOCALE, milliseconds)}. Renouvelez-le.`,
  },
  events: {
    title: "Derniers événements",
    all: "Journal d’audit",
    none: "Il ne s’est encore rien passé.",
    noneText: "Ce que font les administrateurs et les utilisateurs est consigné ici.",
  },
  first: {
    title: "Premiers pas",
    text: "Deux étapes, et votre organisation est en service.",
    application: "Mettre une application en marche",
    applicationText: "Choisissez ce que vous construisez, et copiez les valeurs nécessaires.",
    quickstart: "Ouvrir le démarrage rapide",
    users: "Inviter vos utilisateurs",
    usersText: "Ils reçoivent un e‑mail et choisissent leur mot de passe eux-mêmes.",
    invite: "Inviter un utilisateur",
  },
};
