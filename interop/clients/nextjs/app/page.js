/** A page for everybody. */
import { SignedIn, SignedOut, UserButton } from "@signet/nextjs";

const Home = () => (
  <main>
    <UserButton className="user" />
    <SignedIn>
      <p id="in">Welcome back</p>
    </SignedIn>
    <SignedOut>
      <p id="out">Welcome</p>
    </SignedOut>
  </main>
);
export default Home;
