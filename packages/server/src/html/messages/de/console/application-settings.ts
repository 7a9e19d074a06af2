/** What can be set of an application: each field with what it does. */
import { formatLifetime } from "../../format.ts";

const LOCALE = "de";
const number = (count: number) => new Intl.NumberFormat(LOCALE).format(count);

export const applicationSettings = {
  title: (application: string) => `Einstellungen von ${application}`,
  heading: "Einstellungen",
  summary: "Änderungen gelten ab der nächsten Anmeldung und dem nächsten Token.",
  jump: "Abschnitte der Einstellungen",
  none: "Keine Angabe",
  unknownPool: "Ein Pool, den es nicht mehr gibt:",
  unit: "Sekunden",
  range: (least: number, most: number) => `Von ${number(least)} bis ${number(most)} Sekunden.`,
  reading: (seconds: number) => `Das sind ${formatLifetime(LOCALE, seconds)}.`,
  fine: "Sieht gut aus.",
  inLine: (count: number, value: string) => `Zeile ${number(count)}: ${value}`,
  cards: {
    general: {
      title: "Allgemeines",
      text: "Was Menschen bei der Anmeldung und auf der Zustimmungsseite sehen.",
    },
    addresses: {
      title: "Adressen",
      text: "Wohin Browser mit einer Antwort geschickt werden dürfen, Zeichen für Zeichen verglichen.",
    },
    signIn: {
      title: "Anmeldung und Zustimmung",
      text: "Wer sie verwenden darf, und wie stark eine Anmeldung sein muss.",
    },
    tokens: { title: "Token", text: "Wie die Anwendung sie bekommt, und wofür sie gelten." },
    lifetimes: {
      title: "Gültigkeit",
      text: "Wie lange Token gelten, und wann sich Menschen neu anmelden müssen.",
    },
    signatures: { title: "Inhalt und Signaturen", text: "Was die Token enthalten, und wer sie signiert." },
    proof: {
      title: "Authentifizierung",
      text: "Wie die Anwendung nachweist, dass eine Anfrage nach Token von ihr kommt.",
    },
    legacy: { title: "Ältere Föderation", text: "Für Anwendungen, die mit Sitzungsschlüsseln arbeiten." },
    logout: { title: "Abmeldung", text: "Wie die Anwendung erfährt, dass eine Sitzung zu Ende ist." },
  },
  fields: {
    name: { label: "Name", hint: "Wie Menschen sie sehen, in bis zu 100 Zeichen." },
    description: { label: "Beschreibung", hint: "Für Administratoren, in bis zu 500 Zeichen." },
    homepageUri: { label: "Startseite", hint: "Von den Anmeldeseiten verlinkt." },
    logoUri: { label: "Logo", hint: "Die Adresse eines Bilds." },
    contacts: { label: "Ansprechpersonen", hint: "An wen man sich wendet, eine je Zeile." },
    redirectUris: {
      label: "Redirect-URIs",
      hint: "Wohin Codes geschickt werden, eine je Zeile: https, oder http auf diesem Rechner mit beliebigem Port.",
    },
    postLogoutRedirectUris: {
      label: "Adressen nach der Abmeldung",
      hint: "Wohin ein Browser nach der Abmeldung gehen darf, eine je Zeile.",
    },
    access: { label: "Wer sie verwenden darf", hint: "Das gilt für jede Art der Anmeldung." },
    consentMode: { label: "Wer gefragt wird", hint: "Bevor die Anwendung etwas erfährt." },
    requiredAcr: {
      label: "Mindeststärke einer Anmeldung",
      hint: "Reicht eine Sitzung dafür nicht, wird nach mehr gefragt.",
    },
    requirePkce: {
      label: "PKCE verlangen",
      hint: "Lassen Sie das an, außer die Anwendung ist zu alt dafür.",
    },
    grantTypes: { label: "Wie sie Token bekommt", hint: "Nur die Wege, die sie verwendet." },
    allowedScopes: { label: "Scopes", hint: "Wonach sie fragen darf. Anderes bekommt sie nicht." },
    audience: {
      label: "Empfänger",
      hint: "Die API, für die ihre Access-Token sind. Bleibt das Feld leer, der Aussteller.",
    },
    allowedResources: {
      label: "Weitere APIs",
      hint: "Was sie in einer Anfrage als resource nennen darf, eine je Zeile.",
    },
    accessTokenLifetimeSeconds: {
      label: "Access-Token",
      hint: "ID-Token gelten ebenso lange. Eine kurze Gültigkeit begrenzt den Schaden durch ein gestohlenes.",
    },
    refreshTokenLifetimeSeconds: {
      label: "Refresh-Token",
      hint: "Wird eine Anwendung länger nicht verwendet, ist eine neue Anmeldung nötig.",
    },
    refreshTokenAbsoluteLifetimeSeconds: {
      label: "Gesamte Anmeldung",
      hint: "Dann endet sie, wie oft sie auch erneuert wurde. Nie kürzer als ein Refresh-Token.",
    },
    refreshTokenGraceSeconds: {
      label: "Wiederholte Erneuerung",
      hint: "So lange darf eine Erneuerung noch einmal gesendet werden, wenn ihre Antwort verloren ging. Bei 0 nie.",
    },
    issueRefreshTokenWithoutOfflineAccess: {
      label: "Refresh-Token ohne offline_access",
      hint: "Sie enden dann mit der Sitzung.",
    },
    idTokenIncludesScopeClaims: {
      label: "Namen, Adresse und Telefonnummer im ID-Token",
      hint: "Sonst werden sie bei userinfo erfragt.",
    },
    idTokenSignedResponseAlg: {
      label: "Signatur der ID-Token",
      hint: "ES256 ist kompakt und weit verbreitet.",
    },
    accessTokenSignedResponseAlg: {
      label: "Signatur der Access-Token",
      hint: "Jede API, die sie annimmt, muss das Verfahren unterstützen.",
    },
    signingPoolId: { label: "Signaturpool", hint: "Nur seine Agenten signieren die Token." },
    tokenEndpointAuthMethod: {
      label: "Verfahren",
      hint: "Ein Schlüssel oder Zertifikat verlässt die Anwendung nie.",
    },
    jwks: {
      label: "Öffentliche Schlüssel",
      hint: "Ein JWK-Satz mit öffentlichen Schlüsseln, oder unten seine Adresse.",
    },
    jwksUri: {
      label: "Adresse der öffentlichen Schlüssel",
      hint: "Über https. Sie wird von Zeit zu Zeit neu gelesen.",
    },
    tlsClientAuthSanUri: {
      label: "Gerät",
      hint: "Die Adresse im Zertifikat des einen Geräts, das für sie handeln darf. Bleibt das Feld leer, jedes Gerät.",
    },
    tlsClientCertificateBoundAccessTokens: {
      label: "Token sind an das Gerät gebunden",
      hint: "In anderen Händen sind sie wertlos.",
    },
    returnUrls: {
      label: "Rückkehradressen",
      hint: "Wohin die Anmeldung der Föderation zurückkehren darf, eine je Zeile. Jede steht für alles, was unter ihr liegt.",
    },
    allowPermanentKeys: {
      label: "Sitzungsschlüssel dürfen dauerhaft werden",
      hint: "Sie gelten, bis jemand sie beendet.",
    },
    requireSignedKeyCalls: {
      label: "Signierte Aufrufe mit Sitzungsschlüssel verlangen",
      hint: "Ein Schlüssel, der in ein Protokoll geraten ist, öffnet dann nichts.",
    },
    backchannelLogoutUri: {
      label: "Abmeldung im Hintergrund",
      hint: "Dort erfährt sie, wenn eine Sitzung endet, aus der sie Token hat. Über https.",
    },
  },
  otherScopes: {
    other: "Weitere Scopes",
    otherHint: "Scopes, die nicht in der Liste stehen, einer je Zeile.",
  },
  choices: {
    everyone: "Alle in der Organisation",
    assigned: "Zugewiesene Personen",
    user: "Jede Person",
    organisation: "Administratoren",
    preauthorized: "Niemand",
    password: "Passwort",
    multiFactor: "Zweiter Faktor",
    phishingResistant: "Passkey oder Sicherheitsschlüssel",
    authorization_code: "Anmeldung im Browser",
    refresh_token: "Refresh-Token",
    client_credentials: "In eigenem Namen",
    device_code: "Code auf einem anderen Gerät",
    client_secret_post: "Geheimnis im Inhalt der Anfrage",
    client_secret_basic: "Geheimnis im Authorization-Header",
    private_key_jwt: "Signatur mit einem privaten Schlüssel",
    tls_client_auth: "Zertifikat eines Geräts",
    none: "Nichts: Sie kann kein Geheimnis bewahren",
  },
  choiceTexts: {
    everyone: "Wer sich hier anmelden kann.",
    assigned: "Wer auf ihrer Liste steht.",
    user: "Einmal, bei der ersten Benutzung.",
    organisation: "Sie entscheiden für alle, unter Zustimmungen.",
    preauthorized: "Für eigene Anwendungen.",
    authorization_code: "Für Menschen. Der übliche Weg.",
    refresh_token: "Menschen bleiben angemeldet, ohne neu gefragt zu werden.",
    client_credentials: "Für Dienste: Niemand meldet sich an.",
    device_code: "Für Geräte ohne Tastatur.",
  },
  faults: {
    name: "1 bis 100 sichtbare Zeichen.",
    description: "Höchstens 500 sichtbare Zeichen.",
    homepageUri: "Das ist keine Adresse im Web.",
    logoUri: "Das ist keine Adresse im Web.",
    contacts: "Höchstens 20 Zeilen mit je bis zu 254 Zeichen.",
    redirectUris: "Höchstens 50 Adressen.",
    postLogoutRedirectUris: "Höchstens 50 Adressen.",
    returnUrls: "Höchstens 50 Adressen.",
    grantTypes: "Mindestens ein Weg. „In eigenem Namen“ ist für Anwendungen, die sich ausweisen.",
    allowedScopes:
      "Höchstens 100 Scopes, jeder aus einfachen Buchstaben, Ziffern und Zeichen ohne Leerzeichen.",
    audience: "Buchstaben, Ziffern und Zeichen ohne Leerzeichen.",
    allowedResources: "Vollständige Adressen ohne Fragment, höchstens 100.",
    accessTokenLifetimeSeconds: "Eine ganze Zahl von Sekunden im genannten Bereich.",
    refreshTokenLifetimeSeconds: "Eine ganze Zahl von Sekunden im genannten Bereich.",
    refreshTokenAbsoluteLifetimeSeconds: "Eine ganze Zahl von Sekunden im genannten Bereich.",
    refreshTokenGraceSeconds: "Eine ganze Zahl von Sekunden im genannten Bereich.",
    tokenEndpointAuthMethod: "So kann sich diese Anwendung nicht ausweisen.",
    jwks: "Nur öffentliche Schlüssel, als JWK-Satz, jeder mit seiner kid. Eine Signatur braucht Schlüssel hier oder an einer Adresse, nicht beides.",
    jwksUri: "Eine https-Adresse, und keine Schlüssel im Feld darüber.",
    tlsClientAuthSanUri: "Eine vollständige Adresse, und nur zusammen mit dem Zertifikat eines Geräts.",
    signingPoolId: "Diesen Pool gibt es nicht.",
    backchannelLogoutUri:
      "Eine https-Adresse. Sie lässt sich nicht nutzen, solange ein Signaturpool die Token signiert.",
    other: "Dieser Wert ist nicht möglich.",
  },
  reasons: {
    tooLong: "sie ist länger als 2048 Zeichen.",
    printable: "sie muss aus einfachen Buchstaben, Ziffern und Zeichen ohne Leerzeichen bestehen.",
    backslash: "sie darf keinen umgekehrten Schrägstrich enthalten.",
    wildcard: "sie darf kein Sternchen enthalten: Adressen werden Zeichen für Zeichen verglichen.",
    fragment: "sie darf kein Rautezeichen (#) enthalten.",
    absolute: "sie muss eine vollständige Adresse sein, zum Beispiel https://app.example/callback.",
    userinfo: "sie darf keinen Benutzernamen und kein Passwort enthalten.",
    dotSegments: "ihr Pfad darf keinen Teil . oder .. enthalten.",
    host: "ihr Host muss ein einfacher Name sein.",
    https: "sie muss mit https beginnen. Einfaches http ist nur für diesen Rechner.",
    privateUse: "eigene Schemata sind für Desktop- und Mobilanwendungen.",
    slash: "nach dem Schema muss ein Schrägstrich stehen.",
    normalForm: "Browser würden sie anders schreiben: in Kleinbuchstaben, ohne den üblichen Port.",
    plain: "sie muss eine einfache https-Adresse sein, oder http auf diesem Rechner.",
  },
};
