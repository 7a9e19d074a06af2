/** What can be set of an application: each field with what it does. */
import { formatLifetime } from "../../format.ts";

const LOCALE = "fr";
const number = (count: number) => new Intl.NumberFormat(LOCALE).format(count);

export const applicationSettings = {
  title: (application: string) => `Paramètres de ${application}`,
  heading: "Paramètres",
  summary: "Les modifications s’appliquent dès la prochaine connexion et le prochain jeton.",
  jump: "Sections des paramètres",
  none: "Aucune exigence",
  unknownPool: "Un pool qui n’existe plus :",
  unit: "secondes",
  range: (least: number, most: number) => `De ${number(least)} à ${number(most)} secondes.`,
  reading: (seconds: number) => `Cela fait ${formatLifetime(LOCALE, seconds)}.`,
  fine: "C’est correct.",
  inLine: (count: number, value: string) => `Ligne ${number(count)} : ${value}`,
  cards: {
    general: {
      title: "Informations générales",
      text: "Ce que les personnes en voient à la connexion et sur la page de consentement.",
    },
    addresses: {
      title: "Adresses",
      text: "Où les navigateurs peuvent être envoyés avec une réponse, comparées caractère par caractère.",
    },
    signIn: {
      title: "Connexion et consentement",
      text: "Qui peut l’utiliser, et le niveau de sécurité d’une connexion.",
    },
    tokens: { title: "Jetons", text: "Comment elle les obtient, et à quoi ils servent." },
    lifetimes: {
      title: "Durées",
      text: "Combien de temps les jetons sont valables, et quand on se reconnecte.",
    },
    signatures: { title: "Contenu et signatures", text: "Ce que contiennent les jetons, et qui les signe." },
    proof: {
      title: "Authentification",
      text: "Comment elle prouve qu’une demande de jetons vient d’elle.",
    },
    legacy: {
      title: "Ancienne fédération",
      text: "Pour les applications qui utilisent des clés de session.",
    },
    logout: { title: "Déconnexion", text: "Comment elle apprend qu’une session a pris fin." },
  },
  fields: {
    name: { label: "Nom", hint: "Tel que les personnes le voient, en 100 caractères au plus." },
    description: { label: "Description", hint: "Pour les administrateurs, en 500 caractères au plus." },
    homepageUri: { label: "Page d’accueil", hint: "Un lien y mène depuis les pages de connexion." },
    logoUri: { label: "Adresse du logo", hint: "L’adresse d’une image." },
    contacts: { label: "Interlocuteurs", hint: "À qui s’adresser à son sujet, un par ligne." },
    redirectUris: {
      label: "URI de redirection",
      hint: "Où les codes sont envoyés, une par ligne : https, ou http sur cet ordinateur, avec n’importe quel port.",
    },
    postLogoutRedirectUris: {
      label: "Adresses après la déconnexion",
      hint: "Où un navigateur peut aller après la déconnexion, une par ligne.",
    },
    access: { label: "Qui peut l’utiliser", hint: "Cela vaut pour toutes les façons de se connecter." },
    consentMode: {
      label: "Qui donne son consentement",
      hint: "Avant que l’application apprenne quoi que ce soit sur une personne.",
    },
    requiredAcr: {
      label: "Niveau minimal d’une connexion",
      hint: "Une session de niveau inférieur doit d’abord être renforcée.",
    },
    requirePkce: {
      label: "Exiger PKCE",
      hint: "Laissez cette case cochée, sauf si l’application est trop ancienne pour cela.",
    },
    grantTypes: { label: "Façons d’obtenir des jetons", hint: "Seulement celles qu’elle utilise." },
    allowedScopes: {
      label: "Scopes",
      hint: "Ce qu’elle peut demander. Elle n’obtient rien d’autre.",
    },
    audience: {
      label: "Destinataire",
      hint: "L’API à laquelle ses jetons d’accès sont destinés. L’émetteur, si le champ est vide.",
    },
    allowedResources: {
      label: "Autres API",
      hint: "Ce qu’elle peut nommer comme resource dans une requête, une par ligne.",
    },
    accessTokenLifetimeSeconds: {
      label: "Jeton d’accès",
      hint: "Les jetons d’identité durent autant. Une durée courte limite l’usage d’un jeton volé.",
    },
    refreshTokenLifetimeSeconds: {
      label: "Jeton d’actualisation",
      hint: "Si une application reste absente plus longtemps, on doit s’y reconnecter.",
    },
    refreshTokenAbsoluteLifetimeSeconds: {
      label: "Connexion complète",
      hint: "Elle prend alors fin, même si elle a été actualisée. Jamais plus courte qu’un jeton d’actualisation.",
    },
    refreshTokenGraceSeconds: {
      label: "Actualisation répétée",
      hint: "Pendant ce temps, une actualisation peut être renvoyée si sa réponse s’est perdue. Avec 0, jamais.",
    },
    issueRefreshTokenWithoutOfflineAccess: {
      label: "Jetons d’actualisation sans offline_access",
      hint: "Ils prennent alors fin avec la session.",
    },
    idTokenIncludesScopeClaims: {
      label: "Nom, adresse et téléphone dans le jeton d’identité",
      hint: "Sinon, ils se demandent à userinfo.",
    },
    idTokenSignedResponseAlg: {
      label: "Signature des jetons d’identité",
      hint: "ES256 est compacte et largement prise en charge.",
    },
    accessTokenSignedResponseAlg: {
      label: "Signature des jetons d’accès",
      hint: "Chaque API qui les accepte doit la prendre en charge.",
    },
    signingPoolId: {
      label: "Pool de signature",
      hint: "Seuls ses agents signent les jetons.",
    },
    tokenEndpointAuthMethod: {
      label: "Méthode",
      hint: "Une clé ou un certificat ne quitte jamais l’application.",
    },
    jwks: {
      label: "Clés publiques",
      hint: "Un ensemble JWK de clés publiques, ou son adresse ci-dessous.",
    },
    jwksUri: { label: "Adresse des clés publiques", hint: "En https. Elle est relue de temps en temps." },
    tlsClientAuthSanUri: {
      label: "Appareil",
      hint: "L’adresse dans le certificat du seul appareil qui peut agir pour elle. Si le champ est vide, n’importe lequel.",
    },
    tlsClientCertificateBoundAccessTokens: {
      label: "Les jetons sont liés à l’appareil",
      hint: "En d’autres mains, ils ne valent rien.",
    },
    returnUrls: {
      label: "Adresses de retour",
      hint: "Où la connexion de la fédération peut revenir, une par ligne. Chacune couvre aussi tout ce qui est au-dessous.",
    },
    allowPermanentKeys: {
      label: "Les clés de session peuvent devenir permanentes",
      hint: "Elles restent valables jusqu’à ce que quelqu’un les révoque.",
    },
    requireSignedKeyCalls: {
      label: "Exiger des appels signés avec une clé de session",
      hint: "Une clé qui se retrouve dans un journal n’ouvre alors rien.",
    },
    backchannelLogoutUri: {
      label: "Déconnexion en arrière-plan",
      hint: "Elle y apprend la fin d’une session dont elle a des jetons. En https.",
    },
  },
  otherScopes: {
    other: "Autres scopes",
    otherHint: "Des scopes qui ne sont pas dans la liste, un par ligne.",
  },
  choices: {
    everyone: "Toute l’organisation",
    assigned: "Les personnes affectées",
    user: "Chaque personne",
    organisation: "Les administrateurs",
    preauthorized: "Personne",
    password: "Mot de passe",
    multiFactor: "Second facteur",
    phishingResistant: "Clé d’accès ou clé de sécurité",
    authorization_code: "Connexion dans le navigateur",
    refresh_token: "Jetons d’actualisation",
    client_credentials: "En son nom propre",
    device_code: "Code sur un autre appareil",
    client_secret_post: "Secret dans le corps de la requête",
    client_secret_basic: "Secret dans l’en-tête Authorization",
    private_key_jwt: "Signature avec une clé privée",
    tls_client_auth: "Certificat d’un appareil",
    none: "Rien : elle ne peut pas garder de secret",
  },
  choiceTexts: {
    everyone: "Toutes les personnes qui peuvent se connecter ici.",
    assigned: "Celles de sa liste de personnes.",
    user: "Une fois, à la première utilisation.",
    organisation: "Ils décident pour tous, sous Consentements.",
    preauthorized: "Pour vos propres applications.",
    authorization_code: "Pour les personnes. La façon habituelle.",
    refresh_token: "On reste connecté sans être interrogé de nouveau.",
    client_credentials: "Pour les programmes autonomes : personne ne se connecte.",
    device_code: "Pour les appareils sans clavier.",
  },
  faults: {
    name: "De 1 à 100 caractères visibles.",
    description: "Au plus 500 caractères visibles.",
    homepageUri: "Ce n’est pas une adresse web.",
    logoUri: "Ce n’est pas une adresse web.",
    contacts: "Au plus 20 lignes, de 254 caractères au plus chacune.",
    redirectUris: "Au plus 50 adresses.",
    postLogoutRedirectUris: "Au plus 50 adresses.",
    returnUrls: "Au plus 50 adresses.",
    grantTypes: "Au moins une. « En son nom propre » est pour les applications qui s’authentifient.",
    allowedScopes: "Au plus 100 scopes, en lettres, chiffres et signes simples sans espaces.",
    audience: "Des lettres, chiffres et signes sans espaces.",
    allowedResources: "Des adresses complètes sans fragment, au plus 100.",
    accessTokenLifetimeSeconds: "Un nombre entier de secondes dans l’intervalle indiqué.",
    refreshTokenLifetimeSeconds: "Un nombre entier de secondes dans l’intervalle indiqué.",
    refreshTokenAbsoluteLifetimeSeconds: "Un nombre entier de secondes dans l’intervalle indiqué.",
    refreshTokenGraceSeconds: "Un nombre entier de secondes dans l’intervalle indiqué.",
    tokenEndpointAuthMethod: "Cette application ne peut pas s’authentifier ainsi.",
    jwks: "Des clés publiques seulement, en ensemble JWK, chacune avec son kid. Une signature demande des clés ici ou à une adresse, pas les deux.",
    jwksUri: "Une adresse https, et pas de clés dans le champ au-dessus.",
    tlsClientAuthSanUri: "Une adresse complète, et seulement avec le certificat d’un appareil.",
    signingPoolId: "Ce pool n’existe pas.",
    backchannelLogoutUri:
      "Une adresse https. Elle ne peut pas servir tant qu’un pool de signature signe les jetons.",
    other: "Cette valeur ne convient pas.",
  },
  reasons: {
    tooLong: "elle dépasse 2 048 caractères.",
    printable: "elle doit être en lettres, chiffres et signes simples sans espaces.",
    backslash: "elle ne doit pas contenir de barre oblique inverse.",
    wildcard: "elle ne doit pas contenir d’astérisque : les adresses sont comparées caractère par caractère.",
    fragment: "elle ne doit pas contenir de croisillon (#).",
    absolute: "elle doit être une adresse complète, par exemple https://app.example/callback.",
    userinfo: "elle ne doit contenir ni nom d’utilisateur ni mot de passe.",
    dotSegments: "son chemin ne doit pas comporter de partie . ou .. seule.",
    host: "son hôte doit être un nom simple.",
    https: "elle doit être en https. Le simple http n’est que pour cet ordinateur.",
    privateUse: "les schémas particuliers sont pour les applications de bureau et mobiles.",
    slash: "il faut une barre oblique après le schéma.",
    normalForm: "les navigateurs l’écriraient autrement : en minuscules, sans le port habituel.",
    plain: "elle doit être une simple adresse https, ou http sur cet ordinateur.",
  },
};
