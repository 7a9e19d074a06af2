import { formatDuration } from "../format.ts";

const LOCALE = "fr";

export const wait = {
  heading: (organisation: string) => `En attente de la confirmation de ${organisation}`,
  explanation: (organisation: string, application: string) =>
    `${organisation} confirme chaque connexion à ${application} avec ses propres clés. Cela prend un instant ; cette page continue ensuite automatiquement.`,
  noAgent: (organisation: string) => `${organisation} ne peut pas confirmer pour le moment`,
  noAgentText: (organisation: string, seconds: number) =>
    `Son système de signature n’est pas connecté. Cette page réessaie encore pendant ${formatDuration(LOCALE, seconds)}. Si rien ne se passe, prévenez un administrateur de ${organisation}.`,
  withdrawn: "Vous n’avez plus à répondre",
  withdrawnText: "La dernière question a été retirée. S’il y en a une autre, elle apparaîtra ici.",
  answered: "Vérification de votre réponse",
  answeredText: (organisation: string) => `${organisation} l’examine. Cela prend un instant.`,
  look: "Voir s’il y a du nouveau",
  cancel: "Annuler",
  message: (organisation: string) => `Message de ${organisation}`,
  timeLeft: "Temps restant",
  offline: "La connexion est interrompue. Cette page réessaie automatiquement.",
  number: {
    heading: "Confirmez avec ce nombre",
    explanation: (organisation: string) =>
      `Saisissez-le là où ${organisation} vous le demande, par exemple dans son application.`,
    label: "Nombre",
    submit: "Je l’ai saisi",
  },
  passkey: {
    heading: "Confirmez avec votre clé d’accès",
    explanation:
      "Votre navigateur demande votre empreinte, votre visage, votre code PIN ou votre clé de sécurité.",
    submit: "Utiliser la clé d’accès",
    failed: "Votre navigateur n’a obtenu aucune clé d’accès. Réessayez, ou annulez.",
    needsScript: "Les clés d’accès ont besoin de scripts, désactivés dans ce navigateur.",
  },
  pin: {
    heading: (organisation: string) => `Saisissez le code de ${organisation}`,
    explanation: "Il vous parvient par un autre moyen, jamais sur cette page.",
    label: "Code",
    submit: "Continuer",
  },
  question: (organisation: string) => `${organisation} vous pose une question`,
  confirm: {
    heading: "Confirmez-vous ceci ?",
    explanation: "Ne confirmez que ce que vous avez lancé vous-même.",
    submit: "Confirmer",
  },
  stale: "Votre réponse n’a pas été utilisée",
  staleText: "La question avait changé entre-temps. Ce qui compte maintenant est ci-dessous.",
  pageTooOld: "Votre réponse n’a pas été utilisée",
  pageTooOldText: "Cette page était trop ancienne. Répondez à nouveau ici.",
  signed: (application: string) => `Vous allez être dirigé vers ${application}`,
  signedText: (organisation: string) => `${organisation} a confirmé.`,
  goOn: (application: string) => `Continuer vers ${application}`,
  gone: "Il n’y a plus rien à faire ici",
  goneText: (application: string) =>
    `Ce navigateur est déjà passé à ${application}. Si vous ne la voyez pas, recommencez à partir de là.`,
  back: (application: string) => `Revenir à ${application}`,
  backOnDevice: "Vous pouvez fermer cette page. Pour réessayer, affichez un nouveau code sur votre appareil.",
  expired: "Cela a pris trop de temps",
  expiredText: (organisation: string) =>
    `${organisation} n’a pas confirmé à temps, et personne n’a été connecté. Réessayez dans un instant.`,
  refused: (organisation: string) => `${organisation} ne l’a pas autorisé`,
  refusedText: (organisation: string) =>
    `Ses propres règles décident qui se connecte à quoi. Si vous pensez que c’est une erreur, demandez à un administrateur de ${organisation}.`,
  cancelled: "La connexion a été annulée",
  cancelledText: (organisation: string) =>
    `Personne n’a été connecté. Si ce n’est pas vous qui avez annulé, prévenez un administrateur de ${organisation}.`,
  wrongAnswer: "La réponse n’était pas la bonne",
  wrongAnswerText: "Personne n’a été connecté. Réessayez, et répondez à nouveau.",
  noAnswer: "Aucune réponse n’est arrivée à temps",
  noAnswerText:
    "Personne n’a été connecté. Réessayez quand vous aurez sous la main ce qu’il faut pour répondre.",
  stepUp: (organisation: string) => `${organisation} demande une connexion plus forte`,
  stepUpText:
    "Personne n’a été connecté. Réessayez, et présentez votre second facteur quand il vous sera demandé.",
  technical: (organisation: string) => `${organisation} n’a pas pu confirmer`,
  technicalText: (organisation: string) =>
    `Son système de signature a eu un problème. Réessayez dans un instant ; si cela persiste, donnez la référence ci-dessous à un administrateur de ${organisation}.`,
};
