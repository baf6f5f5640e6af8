"""Models outside of the lab, asked through one client library: the chat adapter's and the judge's way to them."""
