/** What goes over the channel between the bench and a child: a question with its number, and its answer. */
export type Question<Q> = { id: number; question: Q };
export type Reply<A> = { id: number; answer: A } | { id: number; fault: string };
export type Ready = { port: number };

/**
 * The child's half: says that it is ready and on which port it serves (0 when it does not), then answers the bench's
 * questions. The child ends when the bench does, however that comes about.
 */
export function answerQuestions<Q, A>(ready: Ready, answer: (question: Q) => Promise<A>): void {
  process.on("disconnect", () => process.exit(0));
  process.on("message", (message: Question<Q>) => {
    const reply = (outcome: Reply<A>) => process.send?.(outcome);
    answer(message.question).then(
      (value) => reply({ id: message.id, answer: value }),
      (fault: unknown) => reply({ id: message.id, fault: String(fault) }),
    );
  });
  process.send?.(ready);
}
