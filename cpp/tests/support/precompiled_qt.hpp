// What tests with types of Qt include, precompiled.
#pragma once

#include <QByteArray>
#include <QCoreApplication>
#include <QDebug>
#include <QList>
#include <QLoggingCategory>
#include <QMap>
#include <QString>
#include <QThread>
#include <QVariant>

#include "precompiled.hpp"
