import { formatDuration, formatMinute } from "../format.ts";

const LOCALE = "de";

const utc = (milliseconds: number) => `${formatMinute(LOCALE, milliseconds)} UTC`;

export const recovery = {
  forgot: "Passwort vergessen?",
  heading: "Passwort vergessen?",
  explanation: (organisation: string) =>
    `Geben Sie die E-Mail-Adresse Ihres Kontos bei ${organisation} ein. Sie bekommen eine E-Mail mit einem Link, über den Sie ein neues Passwort festlegen.`,
  email: "E-Mail-Adresse",
  send: "E-Mail senden",
  back: "Zurück zur Anmeldung",
  notSent: "Es wurde keine E-Mail gesendet",
  invalidEmail: "Das ist keine E-Mail-Adresse. Prüfen Sie sie und versuchen Sie es noch einmal.",
  rateLimited: (seconds: number) =>
    `Es gab viele Anfragen. Verwenden Sie die neueste E-Mail, die Sie haben, oder warten Sie ${formatDuration(LOCALE, seconds)} und versuchen Sie es noch einmal.`,
  expired: "Diese Seite ist abgelaufen",
  sendAgain: "Es ist nichts verloren: Senden Sie sie noch einmal.",
  sentHeading: "Sehen Sie in Ihrem Postfach nach",
  sent: (email: string, organisation: string) =>
    `Wenn es bei ${organisation} ein Konto für ${email} gibt, ist eine E-Mail mit einem Link dorthin unterwegs. Der Link funktioniert einmal und eine Stunde lang.`,
  nothingArrived:
    "Nach einigen Minuten noch nichts da? Sehen Sie im Spam-Ordner nach und prüfen Sie die Adresse.",
  tryAgain: "Andere Adresse versuchen",
  notSetUpHeading: "E-Mail ist hier nicht eingerichtet",
  notSetUp: (organisation: string) =>
    `Deshalb kann Ihnen kein Link gesendet werden. Bitten Sie die Administration von ${organisation} um ein neues Passwort.`,
  newHeading: "Neues Passwort festlegen",
  account: "Für das Konto",
  newPassword: "Neues Passwort",
  hint: (least: number) =>
    `Mindestens ${least} Zeichen. Einige Wörter, die nicht zusammengehören, kann man sich leicht merken.`,
  signsOut: "Wer noch mit dem alten Passwort angemeldet ist, wird abgemeldet, hier und überall sonst.",
  set: "Dieses Passwort festlegen",
  notChanged: "Es gilt noch das alte Passwort",
  refused: {
    "too-short": (least: number) => `Wählen Sie ein längeres: mindestens ${least} Zeichen.`,
    "too-long": (most: number) => `Wählen Sie ein kürzeres: höchstens ${most} Zeichen.`,
    "repeats-pattern": "Es wiederholt ein Muster. Wählen Sie eines, das schwerer zu erraten ist.",
    "is-sequence": "Es ist eine einfache Folge. Wählen Sie eines, das schwerer zu erraten ist.",
    "is-common":
      "Es ist eines von denen, die zuerst ausprobiert werden. Wählen Sie eines, das schwerer zu erraten ist.",
    "is-about-user":
      "Es besteht aus Ihrem Namen oder Ihrer Adresse. Wählen Sie eines, das schwerer zu erraten ist.",
  },
  busy: (seconds: number) =>
    `Gerade melden sich viele Menschen an. Warten Sie ${formatDuration(LOCALE, seconds)} und geben Sie es dann noch einmal ein; am Passwort liegt es nicht.`,
  typeAgain: "Es ist nichts verloren: Geben Sie das neue Passwort noch einmal ein.",
  doneHeading: "Ihr Passwort ist geändert",
  done: (organisation: string) =>
    `Sie sind bei ${organisation} überall abgemeldet. Melden Sie sich jetzt mit dem neuen Passwort an.`,
  doneElsewhere: "Sie können dieses Fenster schließen und sich dort anmelden, wo Sie hergekommen sind.",
  checkFactors:
    "Kannte vielleicht jemand das alte Passwort? Sehen Sie nach, womit man sich noch anmelden kann.",
  goOn: (application: string) => `Weiter zu ${application}`,
};

export const brokenLink = {
  heading: "Dieser Link funktioniert nicht mehr",
  explanation:
    "Er wurde schon verwendet, er ist zu alt, oder es wurde ein neuerer gesendet. In der neuesten E-Mail steht der, der funktioniert.",
  another: "Neue E-Mail anfordern",
};

export const verifyEmail = {
  heading: "E-Mail-Adresse bestätigen",
  explanation: (organisation: string) =>
    `Bei ${organisation} geht es weiter, sobald Sie gezeigt haben, dass diese Adresse Ihnen gehört. Sie bekommen eine E-Mail mit einem Link.`,
  signedInAs: "Angemeldet als",
  switchAccount: "Nicht Sie? Anderes Konto verwenden",
  send: "E-Mail senden",
  sentHeading: "Sehen Sie in Ihrem Postfach nach",
  sent: (email: string) =>
    `Eine E-Mail mit einem Link ist unterwegs an ${email}. Der Link funktioniert einmal und einen Tag lang.`,
  nothingArrived: "Nach einigen Minuten noch nichts da? Sehen Sie im Spam-Ordner nach.",
  notSetUp: (organisation: string) =>
    `Deshalb kann Ihnen kein Link gesendet werden. Bitten Sie die Administration von ${organisation}, Ihre Adresse zu bestätigen.`,
  confirmHeading: "Ist das Ihre E-Mail-Adresse?",
  confirmText: (organisation: string) =>
    `Jemand, höchstwahrscheinlich Sie, hat damit ein Konto bei ${organisation}. Wenn Sie davon nichts wissen, schließen Sie diese Seite: Dann geschieht nichts.`,
  account: "Für das Konto",
  confirm: "Ja, bestätigen",
  notConfirmed: "Die Adresse ist noch nicht bestätigt",
  confirmAgain: "Es ist nichts verloren: Bestätigen Sie sie noch einmal.",
  doneHeading: "Ihre E-Mail-Adresse ist bestätigt",
  done: (organisation: string) => `Bei ${organisation} ist jetzt bekannt, dass sie Ihnen gehört.`,
};

export const action = {
  account: "Für das Konto",
  newAddress: "Neue Adresse",
  expired: "Diese Seite ist abgelaufen",
  again: "Es ist nichts verloren: Versuchen Sie es noch einmal.",
  notSet: "Das Passwort ist noch nicht festgelegt",
  busy: (seconds: number) =>
    `Gerade melden sich viele Menschen an. Warten Sie ${formatDuration(LOCALE, seconds)} und versuchen Sie es dann noch einmal; an Ihren Eingaben liegt es nicht.`,
  VerifyEmail: {
    heading: "Ist das Ihre E-Mail-Adresse?",
    text: (organisation: string) =>
      `Jemand, höchstwahrscheinlich Sie, hat sich damit bei ${organisation} registriert. Wenn Sie davon nichts wissen, schließen Sie diese Seite: Dann geschieht nichts.`,
    confirm: "Ja, bestätigen",
    doneHeading: "Ihre E-Mail-Adresse ist bestätigt",
    done: (organisation: string) => `Sie können sich jetzt bei ${organisation} anmelden.`,
  },
  AcceptInvitation: {
    heading: "Passwort festlegen",
    text: (organisation: string) => `Damit melden Sie sich bei ${organisation} an.`,
    confirm: "Dieses Passwort festlegen",
    doneHeading: "Ihr Konto ist bereit",
    done: (organisation: string) => `Sie können sich jetzt bei ${organisation} anmelden.`,
  },
  AcceptRoaming: {
    heading: "Ihr Konto auch hier verwenden?",
    text: (organisation: string) =>
      `Bei ${organisation} sind dann Ihr Name, Ihre E-Mail-Adresse und Ihre Telefonnummer zu sehen, und Sie können dort Zugang zu Anwendungen bekommen. Ihr Passwort kann dort niemand ändern. Wenn Sie das nicht möchten, schließen Sie diese Seite: Dann geschieht nichts.`,
    confirm: "Ja, hier verwenden",
    doneHeading: "Ihr Konto gilt jetzt auch hier",
    done: (organisation: string) => `Sie können sich jetzt mit Ihrem Konto bei ${organisation} anmelden.`,
  },
  ChangeEmail: {
    heading: "Ist das Ihre neue E-Mail-Adresse?",
    text: (organisation: string) =>
      `Wenn Sie das bestätigen, gilt sie für Ihr Konto bei ${organisation}, und E-Mails gehen dorthin. Wenn Sie davon nichts wissen, schließen Sie diese Seite: Dann geschieht nichts.`,
    confirm: "Ja, ändern",
    doneHeading: "Ihre E-Mail-Adresse ist geändert",
    done: (organisation: string) => `Für Ihr Konto bei ${organisation} gilt ab jetzt die neue.`,
  },
};

const factors = {
  totp: "Eine Authenticator-App",
  passkey: "Ein Passkey",
  "recovery-codes": "Ein Satz Wiederherstellungscodes",
};

export const mails = {
  test: {
    subject: (title: string) => `Test zur Ansicht: ${title}`,
    text: "Das ist ein Test, den sich ein Administrator selbst geschickt hat. Es ist nichts geschehen, und die Schaltfläche bewirkt nichts.",
  },
  footer: (organisation: string) =>
    `Gesendet von Signet für ${organisation}. Antworten an diese Adresse liest niemand.`,
  fact: (name: string, value: string) => `${name}: ${value}`,
  copyLink: "Wenn die Schaltfläche nicht funktioniert, kopieren Sie diese Adresse in Ihren Browser:",
  facts: { at: "Wann", browser: "Browser", address: "Netzwerkadresse" },
  moment: utc,
  newPassword: "Neues Passwort festlegen",
  notYou:
    "Wenn Sie das nicht waren, legen Sie sofort ein neues Passwort fest. Damit werden alle abgemeldet, die gerade angemeldet sind.",
  resetPassword: {
    subject: (organisation: string) => `Neues Passwort für ${organisation} festlegen`,
    text: (organisation: string) =>
      `Jemand, höchstwahrscheinlich Sie, möchte für Ihr Konto bei ${organisation} ein neues Passwort festlegen.`,
    validity: (expiresAt: number) => `Der Link funktioniert einmal, bis zum ${utc(expiresAt)}.`,
    otherwise: "Wenn Sie nicht darum gebeten haben, ist nichts zu tun: Ihr Passwort bleibt, wie es ist.",
  },
  verifyEmail: {
    subject: (organisation: string) => `E-Mail-Adresse für ${organisation} bestätigen`,
    text: (organisation: string) =>
      `Bestätigen Sie, dass dies die Adresse Ihres Kontos bei ${organisation} ist.`,
    confirm: "Diese Adresse bestätigen",
    validity: (expiresAt: number) => `Der Link funktioniert einmal, bis zum ${utc(expiresAt)}.`,
    otherwise: "Wenn Sie davon nichts wissen, ist nichts zu tun.",
  },
  acceptInvitation: {
    subject: (organisation: string) => `Einladung zu einem Konto bei ${organisation}`,
    text: (organisation: string) =>
      `Bei ${organisation} wurde ein Konto für Sie angelegt. Legen Sie ein Passwort fest, dann gehört es Ihnen.`,
    confirm: "Passwort festlegen",
    validity: (expiresAt: number) => `Der Link funktioniert einmal, bis zum ${utc(expiresAt)}.`,
    otherwise:
      "Wenn Sie davon nichts wissen, ist nichts zu tun: Mit diesem Konto kann sich niemand anmelden.",
  },
  acceptRoaming: {
    subject: (organisation: string) => `Mit Ihrem Konto auch bei ${organisation} anmelden?`,
    text: (organisation: string) =>
      `Mit dem Konto, das Sie schon haben, können Sie sich auf Wunsch auch bei ${organisation} anmelden. Dort wären dann Ihr Name, Ihre E-Mail-Adresse und Ihre Telefonnummer zu sehen; Ihr Passwort könnte dort niemand ändern.`,
    confirm: "Einzelheiten ansehen",
    validity: (expiresAt: number) => `Der Link funktioniert einmal, bis zum ${utc(expiresAt)}.`,
    otherwise: "Wenn Sie das nicht möchten, ist nichts zu tun: Es ändert sich nichts.",
  },
  changeEmail: {
    subject: (organisation: string) => `Neue E-Mail-Adresse für ${organisation} bestätigen`,
    text: (organisation: string) =>
      `Bestätigen Sie, dass dies die neue Adresse Ihres Kontos bei ${organisation} ist. Bis dahin gilt die alte.`,
    confirm: "Diese Adresse bestätigen",
    validity: (expiresAt: number) => `Der Link funktioniert einmal, bis zum ${utc(expiresAt)}.`,
    otherwise: "Wenn Sie davon nichts wissen, ist nichts zu tun.",
  },
  accountExists: {
    subject: (organisation: string) => `Sie haben schon ein Konto bei ${organisation}`,
    text: (organisation: string) =>
      `Jemand, höchstwahrscheinlich Sie, wollte sich mit dieser Adresse bei ${organisation} registrieren. Dafür gibt es schon ein Konto, und es hat sich nichts geändert.`,
    advice:
      "Melden Sie sich mit dem Passwort an, das Sie haben. Wenn Sie es nicht mehr wissen, legen Sie ein neues fest. Wenn Sie das nicht waren, ist nichts zu tun.",
  },
  emailChanged: {
    subject: (organisation: string) => `Ihre E-Mail-Adresse bei ${organisation} wurde geändert`,
    text: (organisation: string) =>
      `Ihr Konto bei ${organisation} hat ab jetzt eine andere E-Mail-Adresse. Diese hier wird dafür nicht mehr verwendet.`,
    advice: (organisation: string) =>
      `Wenn Sie das nicht waren, sagen Sie sofort der Administration von ${organisation} Bescheid: E-Mails mit Links gehen jetzt an die andere Adresse.`,
  },
  accountDeleted: {
    subject: (organisation: string) => `Ihr Konto bei ${organisation} wurde gelöscht`,
    text: (organisation: string) =>
      `Ihr Konto bei ${organisation} gibt es nicht mehr, und auch nichts von dem, was dort über Sie gespeichert war. Sie sind überall abgemeldet, und die Anwendungen wissen davon.`,
    advice: (organisation: string) =>
      `Wenn Sie das nicht waren, sagen Sie sofort der Administration von ${organisation} Bescheid. Das Konto lässt sich nicht zurückholen.`,
  },
  passwordChanged: {
    subject: (organisation: string) => `Ihr Passwort für ${organisation} wurde geändert`,
    text: (organisation: string) =>
      `Ihr Konto bei ${organisation} hat ein neues Passwort. Wer noch mit dem alten angemeldet war, ist abgemeldet.`,
  },
  newSignIn: {
    subject: (organisation: string) => `Neue Anmeldung bei ${organisation}`,
    text: (organisation: string) =>
      `Jemand hat sich bei Ihrem Konto bei ${organisation} mit einem Browser angemeldet, der dafür noch nie verwendet wurde. Wenn Sie das waren, ist nichts zu tun.`,
  },
  factorAdded: {
    subject: (factor: keyof typeof factors, organisation: string) =>
      `${factors[factor]} wurde Ihrem Konto bei ${organisation} hinzugefügt`,
    text: (factor: keyof typeof factors, organisation: string) =>
      `${factors[factor]} wurde Ihrem Konto bei ${organisation} hinzugefügt. Damit ist ab jetzt eine Anmeldung möglich.`,
  },
  factorRemoved: {
    subject: (factor: keyof typeof factors, organisation: string) =>
      `${factors[factor]} wurde aus Ihrem Konto bei ${organisation} entfernt`,
    text: (factor: keyof typeof factors, organisation: string) =>
      `${factors[factor]} wurde aus Ihrem Konto bei ${organisation} entfernt. Damit ist keine Anmeldung mehr möglich.`,
  },
};
