/** Takes what is wrong with a configuration: one sentence that names the property and what to do about it. */
export type Fault = (reason: string) => void;
