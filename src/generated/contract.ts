// Made from openapi/petstore.yaml by contract-first 1.0.0: `npm run generate`. Never edited.

export type $Read<T> = {
    readonly $read: T;
};
export type $Write<T> = {
    readonly $write: T;
};
export type Readable<T> = T extends $Write<any> ? never : T extends $Read<infer U> ? Readable<U> : T extends (infer E)[] ? Readable<E>[] : T extends object ? {
    [K in keyof T as NonNullable<T[K]> extends $Write<any> ? never : K]: Readable<T[K]>;
} : T;
export type Writable<T> = T extends $Read<any> ? never : T extends $Write<infer U> ? Writable<U> : T extends (infer E)[] ? Writable<E>[] : T extends object ? {
    [K in keyof T as NonNullable<T[K]> extends $Read<any> ? never : K]: Writable<T[K]>;
} & {
    [K in keyof T as NonNullable<T[K]> extends $Read<any> ? K : never]?: never;
} : T;
export interface paths {
    "/pets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List animals
         * @description Returns animals in the order of their creation, one page at a time. If another page follows, the reply contains a `Link`
         *     header with `rel="next"`: request its URL to get the next page.
         */
        get: operations["listPets"];
        put?: never;
        /**
         * Add an animal
         * @description Adds an animal and assigns its `id`. When you receive the reply, the animal is stored durably. If you send no `status`, the
         *     animal has none.
         */
        post: operations["createPet"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/pets/{petId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an animal
         * @deprecated
         * @description Returns one animal. **Deprecated: to be removed on 5 December 2030.** From that day on, the reply is 410 `gone`. Use
         *     `GET /pets` with its `status` filter instead.
         */
        get: operations["getPet"];
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
        /**
         * Format: int64
         * @description Identifies an animal. The service assigns it, and never uses it twice.
         * @example 1
         */
        PetId: bigint;
        /**
         * Format: int64
         * @description Identifies the category that an animal belongs to.
         * @example 7
         */
        CategoryId: bigint;
        /**
         * @description The animal's name, with 1 to 255 characters (Unicode code points). The service stores it exactly as you send it. If it
         *     contains U+0000, the reply is 400.
         * @example Rex
         */
        PetName: string;
        /**
         * @description Whether an animal is available, reserved or sold.
         * @example available
         * @enum {string}
         */
        PetStatus: "available" | "pending" | "sold";
        /** @description An animal to add. */
        NewPet: {
            name: components["schemas"]["PetName"];
            categoryId: components["schemas"]["CategoryId"];
            status?: components["schemas"]["PetStatus"];
        };
        /** @description An animal of the store. */
        Pet: {
            id: components["schemas"]["PetId"];
            name: components["schemas"]["PetName"];
            categoryId: components["schemas"]["CategoryId"];
            status?: components["schemas"]["PetStatus"];
        };
        /** @description Animals, in the order of their creation. */
        Pets: components["schemas"]["Pet"][];
        /**
         * @description The kind of the error, for programs. The table under Errors explains each code. Later versions may add codes: handle an
         *     unknown code by its `status`.
         * @example invalid_request
         */
        ErrorCode: "invalid_request" | "malformed_json" | "malformed_request" | "unauthorized" | "forbidden" | "pet_not_found" | "route_not_found" | "method_not_allowed" | "request_timeout" | "already_done" | "gone" | "payload_too_large" | "uri_too_long" | "unsupported_media_type" | "expectation_failed" | "idempotency_key_reused" | "rate_limited" | "headers_too_large" | "internal_error" | "not_implemented" | "outcome_unknown" | "overloaded" | "unavailable" | "http_version_not_supported" | "ids_used_up" | "bad_request" | "payment_required" | "not_found" | "not_acceptable" | "conflict" | "length_required" | "precondition_failed" | "range_not_satisfiable" | "misdirected_request" | "unprocessable_content" | "locked" | "failed_dependency" | "too_early" | "upgrade_required" | "precondition_required" | "unavailable_for_legal_reasons" | "bad_gateway" | "gateway_timeout" | "insufficient_storage";
        /** @description The body of every error reply. */
        Error: {
            code: components["schemas"]["ErrorCode"];
            /**
             * @description The error, described for people. Later versions may change the text.
             * @example body.name is missing
             */
            message: string;
            /**
             * Format: int32
             * @description The HTTP status code of the reply.
             * @example 400
             */
            status: number;
            /** @description The problems of an `invalid_request`, for programs. If there are more than 20, the list contains the first 20. */
            problems?: components["schemas"]["Problem"][];
        };
        /** @description One problem at one place of a request. */
        Problem: {
            /**
             * @description The part of the request.
             * @example body
             * @enum {string}
             */
            in: "body" | "path" | "query" | "header";
            /**
             * @description A JSON Pointer in the body (RFC 6901; empty for the body itself), or the name of a parameter.
             * @example /name
             */
            place: string;
            /**
             * @description The JSON Schema keyword that the value breaks, or `unknown`, `repeated`, `inexact` or `syntax`. Later versions may add
             *     codes.
             * @example required
             */
            code: string;
            /**
             * @description The problem, described for people. Later versions may change the text.
             * @example body.name is missing
             */
            message: string;
        };
    };
    responses: {
        /** @description The request breaks a rule of this contract. The message names each wrong value. */
        InvalidRequest: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                RateLimit?: string;
                "RateLimit-Policy"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description A required field is missing, a value is invalid, or the body is not JSON. The message names each wrong value. */
        InvalidBody: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                RateLimit?: string;
                "RateLimit-Policy"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The API key is missing or invalid. */
        Unauthorized: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The API key lacks a scope of the operation. */
        Forbidden: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                RateLimit?: string;
                "RateLimit-Policy"?: string;
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The API key lacks a scope of the operation. */
        ForbiddenToAdd: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                RateLimit?: string;
                "RateLimit-Policy"?: string;
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The body is larger than the operation allows. */
        PayloadTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                RateLimit?: string;
                "RateLimit-Policy"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The body is not JSON, or is compressed. */
        UnsupportedMediaType: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                RateLimit?: string;
                "RateLimit-Policy"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The `Idempotency-Key` was sent before, with another body. */
        IdempotencyKeyReused: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                RateLimit?: string;
                "RateLimit-Policy"?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Too many requests with this API key, or without a valid one. Nothing was done. */
        RateLimited: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                RateLimit?: string;
                "RateLimit-Policy"?: string;
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Any other error. Its `code` tells which one. */
        Failure: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                RateLimit?: string;
                "RateLimit-Policy"?: string;
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: {
        /**
         * @description Identifies this request in the service's log. Include it when you report a problem. If the request has a valid `traceparent`
         *     (W3C Trace Context), the value ends with the trace id.
         */
        "X-Request-Id": string;
        /**
         * @description How to authenticate (RFC 6750, section 3). If you sent a key, `error` explains why it is not enough, and `scope` names the
         *     scope that the operation needs.
         */
        "WWW-Authenticate": string;
        /**
         * @description How many seconds to wait before you try again. Only with status 429 or 503.
         * @example 1
         */
        "Retry-After": number;
        /**
         * @description How many more requests the API key may send (`r`) until its next window begins in `t` seconds, as in
         *     draft-ietf-httpapi-ratelimit-headers-10. Only for a key with a limit.
         * @example "key";r=99;t=1
         */
        RateLimit: string;
        /**
         * @description How many requests the API key may send (`q`) in each window of `w` seconds, as in
         *     draft-ietf-httpapi-ratelimit-headers-10. Only for a key with a limit.
         * @example "key";q=100;w=1
         */
        "RateLimit-Policy": string;
        /** @description The time since which the operation is deprecated, as `@` and Unix time in seconds (RFC 9745). */
        Deprecation: string;
        /** @description The time at which the operation will be removed, as an HTTP date (RFC 8594). */
        Sunset: string;
        /** @description The operation to use instead, as `<url>; rel="successor-version"` (RFC 8288, RFC 5829). */
        Successor: string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listPets: {
        parameters: {
            query: {
                /**
                 * @description The maximum number of animals on a page.
                 * @example 20
                 */
                limit: number;
                /** @description Only animals with this status. */
                status?: components["schemas"]["PetStatus"];
                /**
                 * @description The cursor from the `Link` header of the previous page. This page begins after that page. Send the cursor unchanged, and
                 *     with the same `status`.
                 */
                after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of animals. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit?: string;
                    "RateLimit-Policy"?: string;
                    /**
                     * @description The next page, as `<url>; rel="next"` (RFC 8288). Absent on the last page.
                     * @example </v1/pets?limit=20&after=MjAg>; rel="next"
                     */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Pets"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            429: components["responses"]["RateLimited"];
            default: components["responses"]["Failure"];
        };
    };
    createPet: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description With this header, it is safe to repeat the request after any failure. Send 1 to 255 visible ASCII characters, such as a
                 *     random UUID. Use a new key for each animal. The service remembers a key for 24 hours, separately for each API key. If you
                 *     repeat the request with the same body, you get the reply of the first request; with another body, you get a 422.
                 */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description The animal to add. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewPet"];
            };
        };
        responses: {
            /** @description The animal was added. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit?: string;
                    "RateLimit-Policy"?: string;
                    /** @description The URL of the new animal (RFC 9110, section 10.2.2). */
                    Location: string;
                    /**
                     * @description An earlier request with the same `Idempotency-Key` added the animal. This reply repeats the earlier one, even if the
                     *     animal has changed since then. If a new version of the service no longer allows the earlier reply, this reply
                     *     contains the current animal.
                     * @example true
                     */
                    "Idempotency-Replayed"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Pet"];
                };
            };
            400: components["responses"]["InvalidBody"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenToAdd"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["RateLimited"];
            default: components["responses"]["Failure"];
        };
    };
    getPet: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The identifier of the animal.
                 * @example 1
                 */
                petId: components["schemas"]["PetId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The animal. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit?: string;
                    "RateLimit-Policy"?: string;
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Successor"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Pet"];
                };
            };
            /** @description The identifier is not a 64-bit integer, or an unknown parameter was sent. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit?: string;
                    "RateLimit-Policy"?: string;
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Successor"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The API key is missing or invalid. */
            401: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Successor"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The API key lacks a scope of the operation. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit?: string;
                    "RateLimit-Policy"?: string;
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Successor"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description No animal has this identifier. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit?: string;
                    "RateLimit-Policy"?: string;
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Successor"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Too many requests with this API key, or without a valid one. Nothing was done. */
            429: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit?: string;
                    "RateLimit-Policy"?: string;
                    "Retry-After"?: number;
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Successor"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Any other error. Its `code` tells which one. */
            default: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit?: string;
                    "RateLimit-Policy"?: string;
                    "Retry-After"?: number;
                    Deprecation: components["headers"]["Deprecation"];
                    Sunset: components["headers"]["Sunset"];
                    Link: components["headers"]["Successor"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
}
/** The operations that may be called without a key. */
export type OpenOperation = never;
