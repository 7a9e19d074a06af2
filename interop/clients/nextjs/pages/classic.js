/** A page of the Pages Router. */
import { getAuth } from "@signet/nextjs/pages";

export const getServerSideProps = async ({ req }) => ({
  props: { name: (await getAuth(req)).user?.firstname ?? null },
});

const Classic = ({ name }) => <p id="name">{name}</p>;
export default Classic;
