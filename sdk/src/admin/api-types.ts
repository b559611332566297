// What `npm run sdk:types` makes of /auth/api/v2/openapi.json.

export interface paths {
    "/auth/api/v2/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Users, in the order in which svc got to know them */
        get: operations["listUsers"];
        put?: never;
        /** Makes an account, which exists at once */
        post: operations["createUser"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/api/v2/users/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One user */
        get: operations["findUser"];
        put?: never;
        post?: never;
        /** Deletes a user, whose sessions end */
        delete: operations["deleteUser"];
        options?: never;
        head?: never;
        /** Changes what is given, all of it or nothing */
        patch: operations["changeUser"];
        trace?: never;
    };
    "/auth/api/v2/users/{id}/links": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Makes a link for a new password, or into an account that nobody has entered; it is not mailed */
        post: operations["createLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/api/v2/users/{id}/second-factors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Takes one-time codes and recovery codes away from a user, whose sessions end, and tells them by mail */
        delete: operations["resetSecondFactors"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/api/v2/users/{id}/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The live sessions of a user, the last seen first */
        get: operations["listSessions"];
        put?: never;
        post?: never;
        /** Ends all sessions of a user, on every replica at once */
        delete: operations["endSessions"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/api/v2/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A live session, which ends unless it is renewed */
        get: operations["findSession"];
        put?: never;
        post?: never;
        /** Ends a session, on every replica at once */
        delete: operations["endSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/api/v2/users/{id}/grants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The clients that have access to the account of a user, the last used first */
        get: operations["listGrants"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/api/v2/users/{id}/grants/{grant}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Ends the access of a client to the account of a user, on every replica at once */
        delete: operations["endGrant"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/api/v2/clients": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Clients of the OAuth server, the newest first */
        get: operations["listClients"];
        put?: never;
        /** Makes a client; one of type `web` gets a secret, which is shown this once */
        post: operations["createClient"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/api/v2/clients/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One client */
        get: operations["findClient"];
        put?: never;
        post?: never;
        /** Deletes a client, whose grants end */
        delete: operations["deleteClient"];
        options?: never;
        head?: never;
        /** Changes what is given, all of it or nothing */
        patch: operations["changeClient"];
        trace?: never;
    };
    "/auth/api/v2/clients/{id}/secrets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Makes a new secret, which is shown this once; the former one stays good for 24 hours */
        post: operations["rotateClientSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/api/v2/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What happened, and who did it, the newest first */
        get: operations["listAuditEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/api/v2/revocations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Sessions and grants that have ended, and users whose claims have changed */
        get: operations["listRevocations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/api/v2/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** This document */
        get: operations["getOpenApi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Error: {
            error: {
                /** @description For programs, such as `conflict` */
                code: string;
                /** @description For people; the text may change */
                message: string;
                /** @description What the error is about; always there for 409 and 422 */
                field?: string;
                /** @description The same as the header X-Request-Id */
                request_id: string;
            };
        };
        Session: {
            /**
             * Format: uuid
             * @description The claim `sid` of its access tokens
             */
            id: string;
            /** Format: uuid */
            user_id: string;
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was last renewed
             */
            last_seen_at: string;
            /**
             * Format: date-time
             * @description When it ends unless it is renewed
             */
            expires_at: string;
            user_agent: string;
            /** @description The IP address of the client */
            address: string;
        };
        SessionList: {
            sessions: components["schemas"]["Session"][];
        };
        User: {
            /**
             * Format: uuid
             * @description Never changes, and is never given to another user
             */
            id: string;
            /** Format: email */
            email: string;
            username: string;
            /** @description The name of the person; null: none is known. It is left out with `SVC_NAMES=off` */
            name?: string | null;
            roles: string[];
            disabled: boolean;
            /**
             * Format: date-time
             * @description UTC, with milliseconds and Z
             */
            created_at: string;
            /** @description The language of their messages (BCP 47), such as `pt-BR`; null: not known yet */
            language: string | null;
            email_verified: boolean;
            /**
             * Format: date-time
             * @description When anything here but `last_seen_at` changed last
             */
            updated_at: string;
            /**
             * Format: date-time
             * @description null: never
             */
            last_seen_at: string | null;
            has_password: boolean;
            identities: components["schemas"]["Identity"][];
            /** @description `totp`: one-time codes of an authenticator app */
            second_factors: string[];
            /** @description How many the user has */
            passkeys: number;
        };
        Identity: {
            /** @description Its name in the settings */
            provider: string;
            issuer: string;
            /** @description Identifies the user at the issuer */
            subject: string;
            /** @description That of the user there when they were connected */
            email: string | null;
        };
        CreatedUser: components["schemas"]["User"] & {
            /** Format: uri */
            invite_url?: string;
        };
        UserList: {
            users: components["schemas"]["User"][];
            /** @description null at the end */
            next_cursor: string | null;
        };
        Link: {
            /** Format: uri */
            url: string;
            /**
             * Format: date-time
             * @description UTC, with milliseconds and Z
             */
            expires_at: string;
        };
        AuditEvent: {
            /**
             * Format: uuid
             * @description Sorts in the order of time
             */
            id: string;
            /** Format: date-time */
            at: string;
            /** @description One of those of the parameter `type`; further ones may be added */
            type: string;
            /** @description Whose account it happened to; null where none is known or concerned */
            user_id: string | null;
            /** @description `user`, `api:NAME`, `admin:NAME`, `cli` or `system` */
            actor: string;
            /** @description The IP address of the client */
            address: string | null;
            /** @description What the client calls itself, its first 256 characters */
            user_agent: string | null;
            /** @description The request in the log */
            request_id: string | null;
            /** @description The session that began or ended, or in which it was done */
            session_id: string | null;
            details: components["schemas"]["AuditDetails"];
        };
        /** @description What applies. Further properties may be added */
        AuditDetails: {
            /** @description How: `password`, `passkey`, `code`, or the name of a provider */
            method?: string;
            /** @description Why it failed or ended, or why an operator has done it */
            reason?: string;
            /** @description The limit that refused a login */
            limit?: string;
            /** @description A keyed hash of an entered email that no account has */
            account?: string;
            /** @description How many failed logins, sessions or users */
            count?: number;
            /** @description The name of a provider */
            provider?: string;
            /** @description As they are now */
            roles?: string[];
            /** @description What an API key may do */
            scopes?: string[];
            /** @description The session that ended, if the request used a different one */
            ended_session_id?: string;
            /** @description The connection to a provider */
            identity_id?: string;
            /** @description The passkey */
            passkey_id?: string;
            /** @description The API key */
            api_key_id?: string;
            /** @description Its name */
            api_key_name?: string;
            /** @description The key that signs access tokens */
            key_id?: string;
            /** @description The webhook event */
            webhook_id?: string;
            /** @description The message by mail */
            message_id?: string;
            /** @description The name of an administrator */
            administrator?: string;
            /** @description The client of the OAuth server */
            client_id?: string;
            /** @description Its name */
            client_name?: string;
            /** @description The access of a client */
            grant_id?: string;
        };
        AuditEventList: {
            events: components["schemas"]["AuditEvent"][];
            /** @description null at the end */
            next_cursor: string | null;
        };
        Client: {
            /** @description A UUID, or the URL of a metadata document (percent-encoded in a path) */
            id: string;
            name: string;
            /**
             * @description `web` has a secret
             * @enum {string}
             */
            type: "web" | "native" | "browser";
            /**
             * @description Who made it: an operator or a key, itself, or itself by a metadata document
             * @enum {string}
             */
            kind: "operator" | "registered" | "document";
            redirect_uris: string[];
            logout_uris: string[];
            backchannel_logout_uri: string | null;
            /** @description null: all but `roles` */
            scopes: string[] | null;
            /** @description Empty: all */
            resources: string[];
            /** @description Users are not asked for consent */
            first_party: boolean;
            require_mfa: boolean;
            disabled: boolean;
            /**
             * Format: date-time
             * @description UTC, with milliseconds and Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description null: never
             */
            last_used_at: string | null;
        };
        ClientList: {
            clients: components["schemas"]["Client"][];
        };
        CreatedClient: components["schemas"]["Client"] & {
            /** @description Of type `web` alone */
            secret?: string;
        };
        ClientSecret: {
            secret: string;
            /**
             * Format: date-time
             * @description UTC, with milliseconds and Z
             */
            former_secret_until: string;
        };
        Grant: {
            /**
             * Format: uuid
             * @description The claim `sid` of its tokens
             */
            id: string;
            /** Format: uuid */
            user_id: string;
            client_id: string;
            client_name: string | null;
            /**
             * Format: uuid
             * @description It ends with this session; null: by itself
             */
            session_id: string | null;
            scopes: string[];
            /** @description null: for `userinfo` alone */
            resource: string | null;
            /**
             * Format: date-time
             * @description UTC, with milliseconds and Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description UTC, with milliseconds and Z
             */
            last_used_at: string;
            /**
             * Format: date-time
             * @description When it ends unless it is used
             */
            expires_at: string;
        };
        GrantList: {
            grants: components["schemas"]["Grant"][];
        };
        Revocation: {
            /** @description Greater than that of every entry that was read before */
            seq: number;
            /** Format: date-time */
            at: string;
            /** @description `session-revoked`, `sessions-revoked` or `token-claims-change` */
            type: string;
            /**
             * Format: uuid
             * @description null: the sessions and grants of all users
             */
            user_id: string | null;
            /** @description The claims `sid` of tokens that are good no longer */
            session_ids?: string[];
            /**
             * Format: uuid
             * @description The session of the same user and browser that goes on in its place
             */
            replaced_by?: string;
            /** @description `logout`, `ended`, `replaced`, `reused`, `limit`, `expired`, `security`, `disabled`, `deleted`, `client` */
            reason?: string;
            /** @description Seconds since 1970: tokens with an `iat` up to this are looked at again, once each */
            not_before?: number;
            /**
             * Format: date-time
             * @description No token that it is about is good then
             */
            expires_at: string;
        };
        RevocationList: {
            events: components["schemas"]["Revocation"][];
            /** @description null if the list is not complete */
            next_cursor: string | null;
            /** @description There are further entries: ask again at once */
            more: boolean;
            /** @description false: entries after the cursor are gone, or it is of another state of the database. Start again without one */
            complete: boolean;
        };
        /** @description Server-sent events: `data` is a `Revocation` as JSON, and `id` the cursor after it. A comment every two seconds says that all up to now was sent; where none comes, nothing is known. The event `incomplete` is `complete: false` of a list, and the last one */
        RevocationStream: string;
        OpenApiDocument: {
            openapi: string;
            info: Record<string, never>;
            paths: Record<string, never>;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listUsers: {
        parameters: {
            query?: {
                /** @description Only these users; unknown ids are left out */
                id?: string[];
                /** @description Only the user with this email, in any letter case */
                email?: string;
                /** @description Only the user with this username */
                username?: string;
                /** @description Only users with this role */
                role?: string;
                /** @description Only users who are disabled, or who are not */
                disabled?: boolean;
                /** @description Only users with this text in email, username or name, in any letter case */
                search?: string;
                /** @description Only users who were made or changed at this time or later */
                updated_since?: string;
                /** @description How many users a page holds at most */
                limit?: number;
                /** @description `next_cursor` of the page before, with the same other parameters */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page; the last one has no cursor */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserList"];
                };
            };
        };
    };
    createUser: {
        parameters: {
            query?: never;
            header?: {
                /** @description Of requests with the same key, one has an effect; the others get its response for 24 hours */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    email: string;
                    /** @description Made from the email when left out */
                    username?: string;
                    /** @description Of the person. Not with `SVC_NAMES=off` */
                    name?: string | null;
                    /** @description Of their messages (BCP 47), such as `de` */
                    language?: string | null;
                    roles?: string[];
                    /** @description The rules for new passwords apply */
                    password?: string;
                    /** @description In place of a password, of svc or of another system */
                    password_hash?: string;
                    /** @description You vouch for it that the address is the user's */
                    email_verified?: boolean;
                    /** @description Makes a link with which the user chooses a password */
                    invite?: boolean;
                };
            };
        };
        responses: {
            /** @description The user */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedUser"];
                };
            };
        };
    };
    findUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the user */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The user */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
        };
    };
    deleteUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the user */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description There is no such user any more */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    changeUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the user */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Needs the scope `credentials:write` too. Not verified unless `email_verified` says so */
                    email?: string;
                    /** @description With `email` only, and by default where the account is disabled: whether its other addresses may be a thief’s. No message with a link undoes this change or an earlier one, and every session ends */
                    stolen?: boolean;
                    username?: string;
                    /** @description null takes it away, unless names are required */
                    name?: string | null;
                    /** @description Of their messages (BCP 47), such as `de`; null: not known */
                    language?: string | null;
                    /** @description In place of those that the user has */
                    roles?: string[];
                    /** @description Disabling ends every session */
                    disabled?: boolean;
                    /** @description Needs the scope `credentials:write` too */
                    email_verified?: boolean;
                };
            };
        };
        responses: {
            /** @description The user */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
        };
    };
    createLink: {
        parameters: {
            query?: never;
            header?: {
                /** @description Of requests with the same key, one has an effect; the others get its response for 24 hours */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of the user */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @enum {string} */
                    purpose: "reset" | "invite";
                    /** @description A path of the application, where the user of the link goes on */
                    return_to?: string;
                };
            };
        };
        responses: {
            /** @description The link, which is good once */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Link"];
                };
            };
        };
    };
    resetSecondFactors: {
        parameters: {
            query?: {
                /** @description Whether the passkeys go too */
                passkeys?: boolean;
            };
            header?: never;
            path: {
                /** @description The id of the user */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The user has none of them any more, or there is no such user */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listSessions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the user */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sessions */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionList"];
                };
            };
        };
    };
    endSessions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the user */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The user has no session any more */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    findSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the session */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
        };
    };
    endSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the session */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session has ended, now or before */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listGrants: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the user */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The grants */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GrantList"];
                };
            };
        };
    };
    endGrant: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the user */
                id: string;
                /** @description The id of the grant */
                grant: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The grant has ended, now or before */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listClients: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description At most 10,000 clients */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClientList"];
                };
            };
        };
    };
    createClient: {
        parameters: {
            query?: never;
            header?: {
                /** @description Of requests with the same key, one has an effect; the others get its response for 24 hours */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description At most 60 characters; users see it */
                    name: string;
                    /** @description Compared byte for byte */
                    redirect_uris: string[];
                    /** @enum {string} */
                    type?: "web" | "native" | "browser";
                    /** @description A logout may lead to these */
                    logout_uris?: string[];
                    /** @description It may ask for these; null: for all but `roles` */
                    scopes?: string[] | null;
                    /** @description Its tokens may be for these; empty: for all */
                    resources?: string[];
                    /** @description Users need two-step verification for it */
                    require_mfa?: boolean;
                    /** @description By command alone (`svc clients`): 403 where it would be set or changed */
                    first_party?: boolean;
                    /** @description By command alone (`svc clients`): 403 where it would be set or changed */
                    backchannel_logout_uri?: string | null;
                };
            };
        };
        responses: {
            /** @description The client */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedClient"];
                };
            };
        };
    };
    findClient: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the client */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The client */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Client"];
                };
            };
        };
    };
    deleteClient: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the client */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description There is no such client any more */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    changeClient: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the client */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    name?: string;
                    /** @description In place of those that it has */
                    redirect_uris?: string[];
                    /** @description A logout may lead to these */
                    logout_uris?: string[];
                    /** @description It may ask for these; null: for all but `roles` */
                    scopes?: string[] | null;
                    /** @description Its tokens may be for these; empty: for all */
                    resources?: string[];
                    /** @description Users need two-step verification for it */
                    require_mfa?: boolean;
                    /** @description By command alone (`svc clients`): 403 where it would be set or changed */
                    first_party?: boolean;
                    /** @description By command alone (`svc clients`): 403 where it would be set or changed */
                    backchannel_logout_uri?: string | null;
                    /** @description Disabling ends every grant */
                    disabled?: boolean;
                };
            };
        };
        responses: {
            /** @description The client */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Client"];
                };
            };
        };
    };
    rotateClientSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description Of requests with the same key, one has an effect; the others get its response for 24 hours */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of the client */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The secret */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClientSecret"];
                };
            };
        };
    };
    listAuditEvents: {
        parameters: {
            query?: {
                /** @description Only what happened at this time or later */
                since?: string;
                /** @description Only events of this type */
                type?: "login.succeeded" | "login.failed" | "login.limited" | "login.email_requested" | "login.link_created" | "logout" | "signup" | "session.refreshed_reuse" | "session.ended" | "password.changed" | "password.set" | "password.reset" | "password.reset_link_created" | "email.verified" | "email.unverified" | "email.change_requested" | "email.change_cancelled" | "email.changed" | "email.change_undone" | "username.changed" | "name.changed" | "language.changed" | "account.exported" | "identity.linked" | "identity.unlinked" | "identity.taken_over" | "passkey.added" | "passkey.renamed" | "passkey.removed" | "passkey.counter_went_back" | "second_factor.added" | "second_factor.removed" | "second_factor.reset" | "second_factor.recovery_code_used" | "second_factor.recovery_codes_renewed" | "second_factor.trust_ended" | "user.created" | "user.invited" | "user.disabled" | "user.enabled" | "user.unlocked" | "user.roles_changed" | "user.deleted" | "user.viewed" | "audit.exported" | "administrator.invited" | "administrator.reset" | "administrator.role_changed" | "administrator.removed" | "administrator.signed_in" | "administrator.sign_in_failed" | "administrator.signed_out" | "administrator.passkey_added" | "administrator.passkey_removed" | "key.rotated" | "api_key.created" | "api_key.revoked" | "webhook.given_up" | "webhook.redelivered" | "mail.resent" | "client.created" | "client.changed" | "client.secret_rotated" | "client.deleted" | "grant.created" | "grant.ended" | "grant.refresh_reused" | "code.reused" | "import.added" | "import.taken_back";
                /** @description Only what happened to this user, who may be deleted */
                user_id?: string;
                /** @description How many events a page holds at most */
                limit?: number;
                /** @description `next_cursor` of the page before, with the same other parameters */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page; the last one has no cursor */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditEventList"];
                };
            };
        };
    };
    listRevocations: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the answer before: only what came after it */
                cursor?: string;
                /** @description With a cursor: how many seconds to wait for the first entry */
                wait?: number;
            };
            header?: {
                /** @description Of an event stream: the `id` that came last, in place of `cursor` */
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Up to 1,000 entries; with `Accept: text/event-stream`, all that come, without an end */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RevocationList"];
                    "text/event-stream": components["schemas"]["RevocationStream"];
                };
            };
        };
    };
    getOpenApi: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OpenAPI 3.1 */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenApiDocument"];
                };
            };
        };
    };
}
