/** Les consentements : ce que les applications peuvent utiliser, selon les utilisateurs et les administrateurs. */
import type { Messages } from "../../en/en.ts";
import { formatDay } from "../../format.ts";

const LOCALE = "fr";

export const consents: Messages["console"]["consents"] = {
  summary: (organisation) =>
    `Ce que les utilisateurs et les administrateurs de ${organisation} ont autorisé aux applications. Retirer un consentement met fin à l’accès qui en dépend.`,
  tabs: { label: "Consentements", consents: "Consentements", preauthorizations: "Préautorisations" },
  grant: "Autoriser une application",
  user: "Adresse e‑mail de l’utilisateur",
  application: "L’application",
  applicationHint: "Nom ou identifiant",
  kind: "Pour qui",
  anyKind: "Peu importe",
  kinds: { user: "Un utilisateur", organisation: "Tout le monde" },
  state: "État",
  states: { living: "Actif", revoked: "Retiré" },
  columns: { who: "Pour", application: "L’application", scopes: "Quoi", since: "Depuis", until: "Jusqu’au" },
  everybody: "Tout le monde",
  formerUser: "Un ancien utilisateur",
  by: (who) => `par ${who}`,
  day: (milliseconds) => formatDay(LOCALE, milliseconds),
  none: "Il n’y a pas encore de consentement",
  noneText:
    "Quand un utilisateur autorise une application, cela figure ici. Vous pouvez aussi autoriser une application pour tout le monde : personne n’est alors consulté.",
  unknownUser: "Il n’y a ici aucun utilisateur de cette adresse.",
  unknownApplication: "Il n’y a ici aucune application de ce nom ou de cet identifiant.",
  several: "Plusieurs applications correspondent. Choisissez-en une :",
  revoke: "Retirer",
  revokeOf: (application) => `Retirer l’accès de ${application}`,
  revokeTitle: (application) => `Retirer l’accès de ${application} ?`,
  revokeUser: (email) =>
    `Il a été accordé pour ${email}. Les jetons d’actualisation qui en dépendent prennent fin aussitôt, et avec eux les jetons d’accès partout où ils sont vérifiés. L’utilisateur sera de nouveau consulté quand il se servira de l’application.`,
  revokeEverybody:
    "Il a été accordé pour tout le monde. Les jetons d’actualisation qui en dépendent prennent fin aussitôt, et avec eux les jetons d’accès partout où ils sont vérifiés. Les utilisateurs seront de nouveau consultés quand ils se serviront de l’application.",
  scopesAre: "Scopes concernés :",
  choose: "Quelle application ?",
  chooseText: "Cherchez l’application que vous voulez autoriser.",
  noApplications: "Il n’y a pas encore d’application. Créez-en une d’abord.",
  grantTitle: (application) => `Autoriser ${application}`,
  grantText: "Ce que vous autorisez ici n’est plus demandé aux utilisateurs.",
  forWhom: "Pour qui",
  forOrganisation: "Toute l’organisation",
  forOrganisationText: "Personne n’est consulté, pas même ceux qui arrivent plus tard.",
  forUser: "Un utilisateur",
  forUserText: "Il n’est pas consulté. Il le voit parmi ses applications et peut le retirer.",
  email: "Adresse e‑mail",
  scopes: "Ce qu’elle peut utiliser",
  scopesHint: "Ce qui était déjà autorisé le reste.",
  noScopes: "L’application ne peut demander aucun scope. Ajoutez d’abord des scopes à ses paramètres.",
  submit: "Autoriser",
  faults: {
    scopes: "Choisissez au moins un scope.",
    asked: "L’application ne peut plus demander l’un de ces scopes. Choisissez de nouveau.",
    email: "Il n’y a ici aucun utilisateur de cette adresse. Vérifiez l’adresse.",
    forWhom: "Choisissez pour qui.",
    there: "L’application est déjà préautorisée pour exactement ces scopes.",
  },
  preauthorizations: {
    summary:
      "Un oui donné d’avance : une application préautorisée ne demande jamais ces scopes aux utilisateurs. Chaque préautorisation est indépendante et se supprime séparément.",
    grant: "Préautoriser une application",
    none: "Aucune application n’est préautorisée",
    noneText:
      "Préautorisez vos propres applications, pour que personne n’ait à dire s’il leur fait confiance.",
    title: (application) => `Préautoriser ${application}`,
    text: "Ces scopes ne sont pas demandés aux utilisateurs. Ils ne les voient pas parmi leurs applications.",
    submit: "Préautoriser",
    remove: "Supprimer",
    removeOf: (application) => `Supprimer la préautorisation de ${application}`,
    removeTitle: (application) => `Supprimer la préautorisation de ${application} ?`,
    removeText:
      "Les jetons d’actualisation qui en dépendent prennent fin aussitôt, et avec eux les jetons d’accès partout où ils sont vérifiés. Les utilisateurs seront consultés quand ils se serviront de l’application.",
  },
  done: {
    granted: "L’application est autorisée.",
    revoked: "L’accès est retiré.",
    preauthorized: "L’application est préautorisée.",
    removed: "La préautorisation est supprimée.",
  },
};
