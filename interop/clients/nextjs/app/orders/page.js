/** A page for people who are signed in, with a server action. */
import { auth, OrganisationSwitcher, requireAuth } from "@signet/nextjs";

async function order(form) {
  "use server";
  const { user } = await requireAuth("/orders");
  console.log(`ordered ${form.get("what")} for ${user.email}`);
}

const Orders = async () => {
  const { user, sub, accessToken, organisationId } = await auth();
  return (
    <main>
      <p id="user">{`${user.firstname} ${user.surname} ${user.email} ${sub}`}</p>
      <p id="token">{accessToken}</p>
      <OrganisationSwitcher organisations={[{ id: organisationId, name: "Acme", url: "/" }]} />
      <form action={order}>
        <input name="what" />
        <button id="order" type="submit">
          Order
        </button>
      </form>
    </main>
  );
};
export default Orders;
