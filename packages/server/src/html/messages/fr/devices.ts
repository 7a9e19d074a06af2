import { formatDay, formatLifetime, formatMinute } from "../format.ts";

const LOCALE = "fr";

export const devices = {
  title: "Appareils",
  summary: (organisation: string) =>
    `Les appareils de l’organisation ${organisation}. Chacun a son propre certificat, avec lequel il montre qui il est.`,
  nav: { label: "Appareils", list: "Appareils", policy: "Preuve et confiance" },
  list: {
    heading: "Appareils enregistrés",
    add: "Enregistrer un appareil",
    search: "Nom ou identifiant",
    state: "État",
    anyState: "Tous les états",
    none: "Il n’y a encore aucun appareil",
    noneText:
      "Enregistrez le premier : il reçoit un code, s’inscrit une fois avec lui et possède ensuite un certificat.",
    device: "Appareil",
    proof: "Preuve",
    attested: "TPM",
    unattested: "Aucune",
    until: "Valable jusqu’au",
    noCertificate: "Pas de certificat",
    seen: "Vu pour la dernière fois",
    never: "Jamais",
    day: (milliseconds: number) => formatDay(LOCALE, milliseconds),
    minute: (milliseconds: number) => `${formatMinute(LOCALE, milliseconds)} UTC`,
    enrolled: (milliseconds: number) => `Inscrit le ${formatDay(LOCALE, milliseconds)}`,
    revokedOn: (milliseconds: number) => `depuis le ${formatDay(LOCALE, milliseconds)}`,
    states: { active: "Actif", expired: "Expiré", revoked: "Révoqué" },
    revoke: "Révoquer",
    revokeOf: (name: string) => `Révoquer « ${name} »`,
    replace: "Remplacer",
    replaceOf: (name: string) => `Remplacer « ${name} »`,
  },
  register: {
    heading: "Enregistrer un appareil",
    text: "Vous recevez un code avec lequel l’appareil s’inscrit, une seule fois.",
    name: "Nom",
    nameHint: "Ce qu’affichent les listes et les journaux. Sans nom, c’est son identifiant.",
    attestation: "Preuve par un TPM",
    attestationHint:
      "Un TPM est une puce qui garde la clé de l’appareil de sorte que personne ne puisse la copier.",
    asForAll: {
      none: "Comme pour tous les appareils : non utilisée",
      optional: "Comme pour tous les appareils : acceptée",
      required: "Comme pour tous les appareils : exigée",
    },
    tightened: { optional: "Acceptée", required: "Exigée" },
    expiresIn: "Le code est utilisable pendant",
    lifetime: (seconds: number) => formatLifetime(LOCALE, seconds),
    replaces: "Remplace",
    replacesHint:
      "L’identifiant d’un appareil qui est révoqué dès que celui-ci a son certificat. Peut rester vide.",
    submit: "Créer le code",
    badName: "Un nom a 100 caractères au plus, et aucun caractère de contrôle.",
    badReplaces: "Cet appareil n’existe pas, ou il est déjà révoqué. Copiez l’identifiant depuis la liste.",
    badChoice: "Choisissez une des valeurs de la liste.",
  },
  code: {
    heading: "Le code est prêt",
    headingFor: (name: string) => `Le code pour « ${name} »`,
    onceText:
      "Copiez-le maintenant et ne le donnez qu’à l’appareil. S’il est perdu, retirez-le et créez-en un autre.",
    label: "Code d’inscription",
    command: "À exécuter sur l’appareil",
    commandText: "L’appareil crée sa clé, la garde et reçoit son certificat.",
    until: (milliseconds: number) =>
      `Il est utilisable une fois, jusqu’au ${formatMinute(LOCALE, milliseconds)} UTC.`,
  },
  codes: {
    heading: "Codes qui n’ont pas encore servi",
    unnamed: "Un appareil sans nom",
    until: (milliseconds: number) => `Jusqu’au ${formatMinute(LOCALE, milliseconds)} UTC`,
    by: (who: string, milliseconds: number) => `créé par ${who} le ${formatDay(LOCALE, milliseconds)}`,
    operator: "l’exploitant",
    program: "un compte de service",
    formerUser: "un ancien utilisateur",
    tpm: { optional: "TPM accepté", required: "TPM exigé" },
    replaces: (name: string) => `Remplace « ${name} »`,
    withdraw: "Retirer",
    withdrawOf: (name: string) => `Retirer le code pour « ${name} »`,
    withdrawHeading: (name: string) => `Retirer le code pour « ${name} » ?`,
    withdrawUnnamedHeading: "Retirer ce code ?",
    withdrawText: "Il cesse aussitôt de fonctionner. Vous pouvez en créer un autre quand vous voulez.",
    older: "Autres codes",
  },
  revoke: {
    heading: (name: string) => `Révoquer « ${name} » ?`,
    text: "Son certificat et les jetons qu’il a reçus avec lui cessent aussitôt de fonctionner. C’est irréversible : pour revenir, l’appareil est enregistré de nouveau et crée une nouvelle clé.",
    reason: "Motif",
    reasons: {
      unspecified: "Non précisé",
      keyCompromise: "Sa clé est peut-être en d’autres mains",
      superseded: "Un autre appareil a pris sa place",
      cessationOfOperation: "Il ne sert plus",
    },
    submit: "Révoquer",
  },
  policy: {
    title: "Preuve et confiance",
    summary: (organisation: string) =>
      `Ce qu’un appareil montre avant de recevoir un certificat de l’organisation ${organisation}.`,
    heading: "Ce qui est demandé",
    attestation: "Preuve par un TPM",
    attestations: {
      none: {
        label: "Non utilisée",
        text: "Les appareils gardent leurs clés dans des fichiers. Les preuves sont refusées.",
      },
      optional: {
        label: "Acceptée",
        text: "Un appareil doté d’un TPM peut le prouver ; les autres s’inscrivent sans.",
      },
      required: {
        label: "Exigée",
        text: "Seul un appareil doté d’un TPM reconnu reçoit un certificat.",
      },
    },
    ekTrust: "TPM reconnus",
    ekTrusts: {
      chain: {
        label: "Par leur fabricant",
        text: "Le certificat du TPM mène à un fabricant de la liste ci-dessous.",
      },
      allowlist: {
        label: "Un par un",
        text: "La clé propre du TPM est dans la liste ci-dessous, quel que soit le fabricant.",
      },
      both: { label: "Par les deux", text: "Le fabricant et la clé sont dans les listes ci-dessous." },
    },
    afterwards: "Un changement vaut pour ce qui est inscrit ensuite. Les appareils déjà là restent.",
    save: "Enregistrer",
    roots: "Fabricants de TPM",
    rootsText:
      "Certificats auxquels doit mener le certificat d’un TPM. Ils sont importés là où tourne le serveur :",
    noRoots: "Aucun n’est encore importé : aucun TPM n’est reconnu par son fabricant.",
    until: (milliseconds: number) => `Valable jusqu’au ${formatDay(LOCALE, milliseconds)}`,
    eks: "TPM un par un",
    eksText:
      "Clés d’endossement (EK), chacune sous forme de SHA-256. Elles sont ajoutées là où tourne le serveur :",
    noEks: "Aucune n’est encore ajoutée : aucun TPM n’est reconnu pour lui-même.",
    added: (milliseconds: number) => `Ajoutée le ${formatDay(LOCALE, milliseconds)}`,
    more: (count: number) => `Voici les ${count} premiers. La commande les affiche tous :`,
  },
  done: {
    revoked: "L’appareil est révoqué.",
    withdrawn: "Le code est retiré.",
    saved: "Enregistré.",
    spent: "Le code n’a pas été retiré : il a déjà été utilisé ou a expiré.",
  },
};
