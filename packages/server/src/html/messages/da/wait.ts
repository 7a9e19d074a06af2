import { formatDuration } from "../format.ts";

const LOCALE = "da";

export const wait = {
  heading: (organisation: string) => `Venter på bekræftelse fra ${organisation}`,
  explanation: (organisation: string, application: string) =>
    `${organisation} bekræfter hvert login til ${application} med sine egne nøgler. Det tager et øjeblik; så fortsætter siden af sig selv.`,
  noAgent: (organisation: string) => `${organisation} kan ikke bekræfte lige nu`,
  noAgentText: (organisation: string, seconds: number) =>
    `Dets signeringssystem er ikke forbundet. Siden bliver ved med at prøve i ${formatDuration(LOCALE, seconds)}. Hvis der ikke sker noget, så sig det til en administrator hos ${organisation}.`,
  withdrawn: "Du behøver ikke at svare længere",
  withdrawnText: "Det sidste spørgsmål er trukket tilbage. Hvis der kommer et nyt, vises det her.",
  answered: "Dit svar bliver tjekket",
  answeredText: (organisation: string) => `${organisation} ser på det. Det tager et øjeblik.`,
  look: "Se, om der er nyt",
  cancel: "Annuller",
  message: (organisation: string) => `Besked fra ${organisation}`,
  timeLeft: "Resterende tid",
  offline: "Forbindelsen er afbrudt. Siden prøver igen af sig selv.",
  number: {
    heading: "Bekræft med dette tal",
    explanation: (organisation: string) =>
      `Skriv det dér, hvor ${organisation} beder om det, for eksempel i appen.`,
    label: "Tal",
    submit: "Jeg har skrevet det",
  },
  passkey: {
    heading: "Bekræft med din adgangsnøgle",
    explanation: "Din browser beder om dit fingeraftryk, ansigt, din pinkode eller en sikkerhedsnøgle.",
    submit: "Brug adgangsnøgle",
    failed: "Din browser fik ingen adgangsnøgle. Prøv igen, eller annuller.",
    needsScript: "Adgangsnøgler kræver scripts, som er slået fra i denne browser.",
  },
  pin: {
    heading: (organisation: string) => `Skriv koden fra ${organisation}`,
    explanation: "Du får den på en anden måde, aldrig på denne side.",
    label: "Kode",
    submit: "Fortsæt",
  },
  question: (organisation: string) => `${organisation} spørger dig om noget`,
  confirm: {
    heading: "Bekræfter du dette?",
    explanation: "Bekræft kun det, du selv har sat i gang.",
    submit: "Bekræft",
  },
  stale: "Dit svar blev ikke brugt",
  staleText: "Spørgsmålet var ændret i mellemtiden. Det, der gælder nu, står nedenfor.",
  pageTooOld: "Dit svar blev ikke brugt",
  pageTooOldText: "Siden var for gammel. Svar igen her.",
  signed: (application: string) => `Du sendes videre til ${application}`,
  signedText: (organisation: string) => `${organisation} har bekræftet.`,
  goOn: (application: string) => `Fortsæt til ${application}`,
  gone: "Der er ikke mere at gøre her",
  goneText: (application: string) =>
    `Browseren er allerede gået videre til ${application}. Hvis du ikke ser den, så begynd forfra derfra.`,
  back: (application: string) => `Gå tilbage til ${application}`,
  backOnDevice: "Du kan lukke denne side. Lad din enhed vise en ny kode for at prøve igen.",
  expired: "Det tog for lang tid",
  expiredText: (organisation: string) =>
    `${organisation} bekræftede ikke i tide, og ingen blev logget ind. Prøv igen om et øjeblik.`,
  refused: (organisation: string) => `${organisation} tillod det ikke`,
  refusedText: (organisation: string) =>
    `Egne regler afgør, hvem der logges ind hvor. Hvis du mener, det er en fejl, så spørg en administrator hos ${organisation}.`,
  cancelled: "Login blev annulleret",
  cancelledText: (organisation: string) =>
    `Ingen blev logget ind. Hvis det ikke var dig, der annullerede, så sig det til en administrator hos ${organisation}.`,
  wrongAnswer: "Svaret var ikke rigtigt",
  wrongAnswerText: "Ingen blev logget ind. Prøv igen, og svar på ny.",
  noAnswer: "Der kom intet svar i tide",
  noAnswerText: "Ingen blev logget ind. Prøv igen, når du har det, som svaret kræver, ved hånden.",
  stepUp: (organisation: string) => `${organisation} kræver et stærkere login`,
  stepUpText: "Ingen blev logget ind. Prøv igen, og vis din anden faktor, når du bliver bedt om den.",
  technical: (organisation: string) => `${organisation} kunne ikke bekræfte`,
  technicalText: (organisation: string) =>
    `Dets signeringssystem havde et problem. Prøv igen om et øjeblik; hvis det fortsætter, så giv en administrator hos ${organisation} referencen nedenfor.`,
};
