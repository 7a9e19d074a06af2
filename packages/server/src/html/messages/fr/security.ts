import { formatDay } from "../format.ts";

const LOCALE = "fr";

export const security = {
  title: "Sécurité",
  heading: "Vos moyens de connexion",
  signedInAs: "Session ouverte avec",
  summary: (organisation: string) =>
    `Un second facteur protège votre compte ${organisation}, même si quelqu’un découvre votre mot de passe.`,
  required: (organisation: string) =>
    `L’organisation ${organisation} exige un second facteur pour tous les comptes.`,
  managedElsewhere: "Votre compte appartient à une autre organisation",
  managedElsewhereText: "C’est là que l’on change son mot de passe et ses seconds facteurs.",
  totp: {
    heading: "Application d’authentification",
    none: "Une application sur votre téléphone affiche un nouveau code à six chiffres toutes les trente secondes.",
    there: (milliseconds: number) => `Configurée le ${formatDay(LOCALE, milliseconds)}`,
    add: "Configurer",
    replace: "Changer d’application",
    replaceText:
      "L’application que vous utilisez cessera de fonctionner dès que la nouvelle sera configurée.",
    remove: "Supprimer",
    removeHeading: "Supprimer l’application d’authentification ?",
    removeText:
      "Ses codes cesseront aussitôt de fonctionner. Vous pourrez la configurer de nouveau quand vous voudrez.",
  },
  passkeys: {
    heading: "Clés d’accès",
    none: "Connectez-vous avec votre empreinte, votre visage ou un code PIN : sans mot de passe et à l’abri de l’hameçonnage.",
    add: "Ajouter une clé d’accès",
    added: (milliseconds: number) => `Ajoutée le ${formatDay(LOCALE, milliseconds)}`,
    used: (milliseconds: number) => `dernière utilisation le ${formatDay(LOCALE, milliseconds)}`,
    neverUsed: "pas encore utilisée",
    synced: "Synchronisée",
    change: "Modifier",
    changeOf: (name: string) => `Modifier la clé d’accès « ${name} »`,
    changeHeading: (name: string) => `Clé d’accès « ${name} »`,
    name: "Nom",
    rename: "Enregistrer le nom",
    removeText:
      "Une fois supprimée, elle ne vous connectera plus ici. Votre appareil peut continuer à la proposer tant que vous ne l’y supprimez pas aussi.",
    remove: "Supprimer cette clé d’accès",
    badName: "Saisissez un nom.",
  },
  recovery: {
    heading: "Codes de récupération",
    none: "Vous en recevrez dix en ajoutant un second facteur.",
    left: (count: number) => `Codes encore valables : ${count} sur 10.`,
    renew: "Créer de nouveaux codes",
    renewHeading: "Créer de nouveaux codes de récupération ?",
    renewText: "Vous en recevrez dix nouveaux. Tous vos codes actuels cesseront de fonctionner.",
  },
  devices: {
    heading: "Navigateurs mémorisés",
    none: "Aucun navigateur n’est mémorisé : votre second facteur est demandé à chaque connexion.",
    explanation: "Dans ces navigateurs, le mot de passe suffit pendant 30 jours.",
    thisOne: "Ce navigateur",
    used: (milliseconds: number) => `Dernière utilisation le ${formatDay(LOCALE, milliseconds)}`,
    until: (milliseconds: number) => `mémorisé jusqu’au ${formatDay(LOCALE, milliseconds)}`,
    forget: "Oublier",
    forgetOf: (browser: string) => `Oublier « ${browser} »`,
    forgetHeading: (browser: string) => `Oublier « ${browser} » ?`,
    forgetText: "À la prochaine connexion, votre second facteur y sera de nouveau demandé.",
    forgetAll: "Tout oublier",
    forgetAllHeading: "Oublier tous les navigateurs mémorisés ?",
    unknown: "Navigateur inconnu",
  },
  cancel: "Annuler",
  back: "Retour à la page Sécurité",
  done: {
    totpAdded: "L’application d’authentification est configurée.",
    totpRemoved: "L’application d’authentification est supprimée.",
    passkeyAdded: "La clé d’accès est ajoutée.",
    passkeyRenamed: "Le nom est enregistré.",
    passkeyRemoved: "La clé d’accès est supprimée.",
    codesMade: "Vos codes de récupération sont renouvelés.",
    devicesForgotten: "C’est fait : le second facteur sera de nouveau demandé.",
  },
  lastFactor: "Ce facteur doit rester pour l’instant",
  lastFactorText: (organisation: string) =>
    `L’organisation ${organisation} exige un second facteur pour tous les comptes. Ajoutez-en d’abord un autre, puis supprimez celui-ci.`,
  expired: "Cette page a expiré",
  expiredText: "Rien n’a été modifié. Réessayez.",
};
