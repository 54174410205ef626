# Two images, from the official one of PostgreSQL that BASE names, on Debian or on Alpine
# (postgres:18-alpine; the tests run the steps for Alpine on Debian only):
#
#   docker build --build-arg BASE=postgres:18 --target server -t working_set:18 .
#
# is that image with the extension, preloaded, and created in new clusters;
#
#   docker build --build-arg BASE=postgres:18-trixie --target extension -t working_set-extension:18-trixie .
#
# has only the extension's files, in the layout of CloudNativePG's extension images.  Its server
# has to be of the same major version, 18 or later, and of the same release of Debian.

ARG BASE=postgres:18

FROM $BASE AS build
RUN if command -v apk >/dev/null; then \
        apk add --no-cache gcc make musl-dev; \
    else \
        apt-get update && \
        apt-get install -y --no-install-recommends gcc libc6-dev make postgresql-server-dev-$PG_MAJOR; \
    fi
COPY . /src
# Alpine's image has PostgreSQL with its headers in /usr/local
RUN PG_CONFIG=/usr/local/bin/pg_config && \
    if ! command -v apk >/dev/null; then PG_CONFIG=/usr/lib/postgresql/$PG_MAJOR/bin/pg_config; fi && \
    make -C /src clean all install PG_CONFIG=$PG_CONFIG DESTDIR=/server && \
    mkdir -p /extension/share /server/docker-entrypoint-initdb.d && \
    cp -r "/server$($PG_CONFIG --pkglibdir)" /extension/lib && \
    cp -r "/server$($PG_CONFIG --sharedir)/extension" /extension/share/extension && \
    echo 'CREATE EXTENSION working_set SCHEMA public;' >/server/docker-entrypoint-initdb.d/working_set.sql

FROM scratch AS extension
COPY --from=build /extension/ /

FROM $BASE AS server
COPY --from=build /server/ /
CMD ["postgres", "-c", "shared_preload_libraries=working_set"]
