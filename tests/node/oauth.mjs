// A client without a token: its SDK finds out whom to ask, and it says where its owner has to go.
class Keeper {
  constructor({ redirect, document }) {
    Object.assign(this, { redirectUrl: redirect, clientMetadataUrl: document, kept: {} });
    this.clientMetadata = { client_name: "Agent X", redirect_uris: [redirect], token_endpoint_auth_method: "none" };
  }

  state = () => "a state of its own";
  clientInformation = () => this.kept.client;
  saveClientInformation = (client) => void (this.kept.client = client);
  tokens = () => this.kept.tokens;
  saveTokens = (tokens) => void (this.kept.tokens = tokens);
  codeVerifier = () => this.kept.verifier;
  saveCodeVerifier = (verifier) => void (this.kept.verifier = verifier);
  discoveryState = () => this.kept.discovery;
  saveDiscoveryState = (state) => void (this.kept.discovery = state);
  redirectToAuthorization = (address) => void (this.kept.asked = String(address));

  invalidateCredentials(scope) {
    const gone = scope === "all" ? ["client", "tokens", "verifier", "discovery"] : [scope];
    for (const name of gone) delete this.kept[name];
  }
}

export class SigningIn {
  constructor(make, Http, url, oauth) {
    this.keeper = new Keeper(oauth);
    Object.assign(this, { make, open: () => new Http(new URL(url), { authProvider: this.keeper }) });
  }

  kept = () => this.keeper.kept;
  callTool = (call) => this.client.callTool(call);
  listTools = () => this.client.listTools();
  getServerVersion = () => this.client.getServerVersion();
  close = () => this.client?.close();

  async connect() {
    [this.client, this.transport] = [this.make(), this.open()];
    await this.client.connect(this.transport);
  }

  finish = ({ code, iss }) => this.transport.finishAuth(code, iss);
}
