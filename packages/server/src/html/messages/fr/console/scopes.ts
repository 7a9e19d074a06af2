/** Les scopes : ce que les applications peuvent demander par leur nom. */
import type { Messages } from "../../en/en.ts";

export const scopes: Messages["console"]["scopes"] = {
  summary: (organisation) =>
    `Ce que les applications peuvent demander chez ${organisation}. Un scope décide des informations qu’une application reçoit sur un utilisateur.`,
  own: "Vos propres scopes",
  ownText:
    "Chacun ajoute des claims aux jetons d’accès et aux informations des applications qui peuvent le demander.",
  make: "Nouveau scope",
  makeTitle: "Nouveau scope",
  search: "Nom du scope",
  none: "Vous n’avez pas encore de scope à vous",
  noneText:
    "Créez-en un quand une application doit connaître plus que le nom, l’adresse et le téléphone : un service, un rôle, un centre de coûts.",
  columns: { name: "Nom du scope", shown: "Ce que voient les utilisateurs", claims: "Claims inclus" },
  noClaims: "Aucun",
  sensitive: "Sensible",
  standard: "Scopes standard",
  standardText:
    "OpenID Connect les définit. Ils sont les mêmes dans toutes les organisations et ne se modifient pas.",
  standardClaims: {
    offline_access: "Aucun : un jeton d’actualisation",
  },
  details: "Ce qu’il donne",
  edit: "Modifier",
  editTitle: (name) => `Modifier ${name}`,
  deleteScope: "Supprimer",
  deleteTitle: (name) => `Supprimer ${name} ?`,
  deleteText:
    "Il ne donne plus rien dès le prochain jeton. Les applications et les consentements qui le nomment gardent le nom sans effet.",
  deleteUsed: "Ces applications peuvent le demander :",
  deleteUnused: "Aucune application ne peut le demander.",
  deleteSubmit: "Supprimer le scope",
  used: "Applications qui peuvent le demander",
  usedText: "Les scopes qu’une application peut demander font partie de ses paramètres.",
  unused: "Aucune pour l’instant. Ajoutez-le aux scopes d’une application.",
  others: (count) => `et ${count} autres`,
  name: "Nom du scope",
  nameHint:
    "Tel que les applications le demandent, par exemple payroll ou orders:read. Il ne peut plus changer ensuite.",
  displayName: "Affiché comme",
  displayNameHint:
    "Ce que les utilisateurs lisent quand une application le demande, par exemple : Voir votre salaire.",
  description: "Description",
  descriptionHint: "Une phrase de plus pour ceux qui veulent savoir ce qu’ils autorisent.",
  sensitiveHint: "La page de consentement le signale, pour que les utilisateurs regardent à deux fois.",
  claims: "Claims inclus",
  claimsHint:
    "Ce que les applications apprennent. Un claim sans valeur est omis. Les utilisateurs sont de nouveau consultés quand un scope donne plus que ce qu’ils ont accepté.",
  claim: (count) => `Claim n° ${count}`,
  claimName: "Nom du claim",
  claimFrom: "Sa valeur",
  claimWhat: "Attribut ou valeur",
  claimWhatHint:
    "Pour un attribut, son nom ; pour une valeur fixe, la valeur en texte ou en JSON. Pour retirer un claim, videz ses champs.",
  addClaim: "Ajouter un claim",
  origins: {
    "user.email": "Adresse e‑mail",
    "user.firstname": "Prénom",
    "user.surname": "Nom de famille",
    "user.phone": "Numéro de téléphone",
    "user.permId": "Identifiant de l’utilisateur",
    "user.username": "Nom d’utilisateur",
    "user.locale": "Langue",
    "user.attribute": "Attribut de l’utilisateur",
    "membership.role": "Rôle dans l’organisation",
    "membership.groups": "Groupes dans l’organisation",
    "membership.attribute": "Attribut de l’appartenance",
    static: "Valeur fixe",
  },
  faults: {
    "name-form":
      "Un nom de scope compte 1 à 100 caractères, sans espace, guillemet ni barre oblique inverse.",
    "name-standard": "C’est un scope standard. Choisissez un autre nom.",
    "name-taken": "Il existe déjà un scope de ce nom.",
    "too-many-scopes": "Une organisation a au plus 100 scopes. Supprimez-en un qui ne sert plus.",
    text: "Écrivez ici un texte court : au plus 100 caractères pour un nom, 500 pour une description, sans caractère de contrôle.",
    "too-many-claims": "Un scope a au plus 50 claims.",
    "claim-name":
      "Un claim commence par une lettre et compte 1 à 100 lettres, chiffres et caractères _ . : / -.",
    "claim-reserved": "Les jetons utilisent eux-mêmes ce nom. Choisissez-en un autre.",
    "claim-source": "Choisissez d’où vient la valeur.",
    "claim-path": "Nommez l’attribut : lettres, chiffres, _ et -.",
    "claim-value": "Écrivez la valeur : un texte ou du JSON d’au plus 2 000 caractères et 32 niveaux.",
    "claim-meaning":
      "OpenID Connect fixe le sens de ce claim. Il ne peut être que la donnée de l’utilisateur de ce nom.",
    "claim-twice": "Le scope a déjà ce claim.",
  },
  save: "Enregistrer le scope",
  create: "Créer le scope",
  done: {
    created: "Le scope est créé. Les applications peuvent l’utiliser dès qu’il figure parmi leurs scopes.",
    saved: "Le scope est enregistré.",
    deleted: "Le scope est supprimé.",
  },
};
